// Updates of elements that lists name, with repeats, and stores to them, by functions that may set errno: the length of an edge (PENNANT's mesh), sums of logarithms, powers behind
// conditions, two lists. Where errno is not ERANGE the original loop runs.
// ARGS: 333 0
// ARGS: 333 1
// ARGS: 333 2
// ARGS: 0 2
// OFFLOAD: partial
// KERNELS: lengths decays
#include "example.h"
#include <errno.h>
#include <math.h>

#define KERNEL __attribute__((noinline)) static

static void tell(const char *what, const double *f, size_t m) {
  printf("%s: %s\n", what, errno == EDOM ? "EDOM" : errno == ERANGE ? "ERANGE" : errno == 7 ? "as it was" : "another");
  example_print(what, f, m);
  errno = 7;
}

typedef struct {
  double x, y;
} vector;

KERNEL void lengths(int n, const int *edge, const int *from, const int *to, const vector *p, double *length) {
  for (int i = 0; i < n; ++i) {
    double x = p[from[i]].x - p[to[i]].x, y = p[from[i]].y - p[to[i]].y;
    length[edge[i]] = sqrt(x * x + y * y);
  }
}

KERNEL void roots(int n, const int *place, const double *v, double *f) {
  for (int i = 0; i < n; ++i)
    f[place[i]] = sqrt(v[i]);
}

KERNEL void logarithms(int n, const int *place, const double *v, double *f) {
  for (int i = 0; i < n; ++i)
    f[place[i]] += log(v[i]);
}

KERNEL void decays(int n, const int *place, const double *v, double *f) {
  for (int i = 0; i < n; ++i)
    f[place[i]] += exp(-1000 * fabs(v[i]));
}

KERNEL void powers(int n, const int *place, const double *v, double *f) {
  for (int i = 0; i < n; ++i)
    if (v[i] < 0.75)
      f[place[i]] += pow(v[i], 1.5);
}

KERNEL void two(int n, const int *a, const int *b, const double *v, double *f) {
  for (int i = 0; i < n; ++i) {
    double all = sqrt(v[i]) * exp(v[i]);
    f[a[i]] += all;
    f[b[i]] -= all;
  }
}

static int *list(int n, int most, unsigned seed) {
  int *all = calloc((size_t)n + 1, sizeof *all);
  unsigned long long state = seed;
  for (int i = 0; i < n; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    all[i] = (int)((unsigned)(state >> 33) % (unsigned)most);
  }
  return all;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333), bad = (int)example_arg(argc, argv, 2, 0), places = n / 2 + 1;
  size_t m = 2 * (size_t)n + 16;
  double *f = example_array(m), *v = example_array(m);
  int *edge = list(n, places, 7), *from = list(n, n + 1, 11), *to = list(n, n + 1, 13);
  example_fill(f, m), example_fill(v, m);
  for (size_t i = 0; i < m; ++i)
    v[i] = fabs(v[i]) + 0.01;
  // A number that sets ERANGE, or EDOM.
  if (bad > 0 && n > 0)
    v[n / 2] = bad == 1 ? 0.0 : -0.5;
  errno = 7;
  lengths(n, edge, from, to, (vector *)v, f), tell("lengths", f, m);
  roots(n, edge, v, f), tell("roots", f, m);
  logarithms(n, edge, v, f), tell("logarithms", f, m);
  decays(n, edge, v, f), tell("decays", f, m);
  powers(n, edge, v, f), tell("powers", f, m);
  two(n, edge, from, v, f), tell("two", f, m);
  return 0;
}
