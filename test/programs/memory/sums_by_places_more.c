// Updates of elements that lists name, in further forms: quotients and remainders of integers, with one list and with two, cases of a switch, and lists in structures inside of a time loop, one of which
// is replaced on the way.
// ARGS: 333
// ARGS: 64
// ARGS: 0
// OFFLOAD: yes
// KERNELS: quotients remainders cases steps
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void quotients(int n, const int *place, const int *by, int *h) {
  for (int i = 0; i < n; ++i)
    h[place[i]] /= by[i];
}

KERNEL void remainders(int n, const unsigned *place, const unsigned *v, unsigned *h) {
  for (int i = 0; i < n; ++i)
    h[place[i]] = h[place[i]] * 33 % v[i] + 1;
}

KERNEL void both(int n, const int *a, const int *b, const int *by, int *h) {
  for (int i = 0; i < n; ++i) {
    h[a[i]] /= by[i];
    h[b[i]] += by[i] * 3;
  }
}

KERNEL void cases(int n, const int *place, const int *kind, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    switch (kind[i] % 4) {
    case 0:
      f[place[i]] += v[i];
      break;
    case 1:
      f[place[i]] -= v[i] * 3;
      break;
    case 2:
      f[place[i]] *= (TYPE)0.75;
      break;
    default:
      break;
    }
}

typedef struct {
  int count;
  int *from, *to;
  TYPE *force, *speed;
} mesh;

KERNEL void steps(mesh *m, int *other, int times) {
  for (int t = 0; t < times; ++t) {
    for (int i = 0; i < m->count; ++i) {
      TYPE part = m->speed[i] * (TYPE)0.5;
      m->force[m->from[i]] += part;
      m->force[m->to[i]] -= part;
    }
    for (int i = 0; i < m->count; ++i)
      m->speed[i] = m->speed[i] * (TYPE)0.9 + m->force[i] * (TYPE)0.01;
    if (t == times / 2)
      m->to = other;
  }
}

static unsigned number(unsigned most) {
  static unsigned long long state = 7;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % most;
}

static int *list(int n, int least, int most) {
  int *all = calloc((size_t)n + 1, sizeof *all);
  for (int i = 0; i < n; ++i)
    all[i] = least + (int)number((unsigned)(most - least));
  return all;
}

static void show(const char *what, const int *h, int m) {
  unsigned long long sum = 0;
  for (int i = 0; i < m; ++i)
    sum = sum * 31 + (unsigned)h[i];
  printf("%s %llx\n", what, sum);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333), places = n / 2 + 1;
  size_t m = (size_t)n + 64;
  TYPE *f = example_array(m), *v = example_array(m);
  int *place = list(n, 0, places), *other = list(n, 0, places), *by = list(n, 1, 5), *h = list(n, -100000, 100000);
  example_fill(f, m), example_fill(v, m);
  quotients(n, place, by, h), show("quotients", h, n);
  remainders(n, (unsigned *)place, (unsigned *)by, (unsigned *)h), show("remainders", h, n);
  both(n, place, other, by, h), show("both", h, n);
  cases(n, place, by, v, f), example_print("cases", f, m);
  mesh all = {n, place, other, f, v};
  steps(&all, list(n, 0, places), 6), example_print("steps", f, m);
  return 0;
}
