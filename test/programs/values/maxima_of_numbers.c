// Maxima and minima that keep the cell where it is larger (`a > b ? a : b`), which a NaN makes forget what was before: in parallel where there is none, by the original
// loop where there is one. The second argument is the number of the NaN, counted from one.
// ARGS: 1000 0
// ARGS: 1000 1
// ARGS: 1000 513
// ARGS: 70000 70000
// ARGS: 3 0
// ARGS: 0 0
// OFFLOAD: partial
// FALLBACK: a value is a NaN, of which the order of a minimum or maximum decides
// KERNELS: largest swapped least norm step replaced
#include "example.h"
#include <math.h>

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

__attribute__((noinline)) static double largest(int n, const double *x) {
  double m = -1e300;
  for (int i = 0; i < n; ++i)
    m = MAX(m, x[i]);
  return m;
}

__attribute__((noinline)) static double swapped(int n, const double *x) {
  double m = -1e300;
  for (int i = 0; i < n; ++i)
    m = MAX(x[i], m);
  return m;
}

__attribute__((noinline)) static float least(int n, const float *x) {
  float m = 1e30f;
  for (int i = 0; i < n; ++i)
    m = MIN(m, x[i]);
  return m;
}

// In memory.
__attribute__((noinline)) static void norm(int n, const double *restrict a, const double *restrict b, double *restrict r) {
  *r = 0;
  for (int i = 0; i < n; ++i)
    *r = MAX(*r, fabs(a[i] - b[i]));
}

// Of a nest.
__attribute__((noinline)) static double step(int n, int m, const double *restrict u, const double *restrict v) {
  double d = 1e30;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      d = MIN(d, 0.5 / (fabs(u[i * m + j]) + fabs(v[i * m + j])));
  return d;
}

// From a NaN, which the first value replaces.
__attribute__((noinline)) static double replaced(int n, const double *x) {
  double m = NAN;
  for (int i = 0; i < n; ++i)
    m = !(x[i] <= m) ? x[i] : m;
  return m;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1000), nan = (int)example_arg(argc, argv, 2, 0);
  double *a = example_array((size_t)n), *b = example_array((size_t)n), r = 3;
  float *f = malloc(((size_t)n + 1) * sizeof *f);
  for (int zeros = 0; zeros < 2; ++zeros) {
    for (int i = 0; i < n; ++i) {
      a[i] = zeros ? (i % 2 ? 0.0 : -0.0) : i * 7919L % 1013 - 500;
      b[i] = zeros ? -0.0 : i * 31L % 17 - 8;
      f[i] = (float)a[i];
    }
    if (nan)
      a[nan - 1] = f[nan - 1] = NAN;
    norm(n, a, b, &r);
    printf("%a %a %a %a\n", largest(n, a), swapped(n, a), least(n, f), r);
    printf("%a %a\n", step(n / 10, 10, a, b), replaced(n, a));
  }
}
