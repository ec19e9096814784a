// Products of complex numbers, for which compilers call __muldc3 and __mulsc3 where both parts are no numbers: with infinities and NaNs among the
// data, and without. (Signs of NaNs are not compared.)
// ARGS: 33
// ARGS: 1
// ARGS: 2
// ARGS: 40
// OFFLOAD: yes
#include "example.h"
#include <complex.h>
#include <math.h>

typedef double _Complex wide;
typedef float _Complex narrow;

__attribute__((noinline)) static void product(int n, const wide *A, const wide *B, wide *C) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      wide s = 0;
      for (int k = 0; k < n; ++k)
        s += A[i * n + k] * B[k * n + j];
      C[i * n + j] = s;
    }
}

__attribute__((noinline)) static void pairs(int n, const wide *a, const wide *b, wide *c) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      c[i * n + j] = a[i] * b[j];
}

__attribute__((noinline)) static void conjugated(int n, narrow alpha, const narrow *x, narrow *y) {
  for (int i = 0; i < n; ++i)
    y[i] += alpha * conjf(x[i]) * y[i];
}

__attribute__((noinline)) static void rotate(int n, int steps, wide *psi, wide *next, const double *v) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      next[i] = psi[i] - I * 0.01 * (-0.5 * (psi[i + 1] - 2 * psi[i] + psi[i - 1]) + v[i] * psi[i]);
    wide *old = psi;
    psi = next;
    next = old;
  }
}

static void show(const char *name, const double *a, size_t count) {
  double *plain = example_array(count);
  for (size_t i = 0; i < count; ++i)
    plain[i] = isnan(a[i]) ? 12345.0 : a[i];
  example_print(name, plain, count);
  free(plain);
}

static void *complexes(size_t count) {
  double *a = example_array(2 * count);
  example_fill(a, 2 * count);
  return a;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33);
  size_t count = (size_t)n * n;
  wide *A = complexes(count), *B = complexes(count), *C = complexes(count);
  product(n, A, B, C);
  show("product", (double *)C, 2 * count);
  rotate((int)count, 6, A, B, (double *)C);
  show("rotated", (double *)A, 2 * count);
  // Every pair of these, part by part.
  static const double special[] = {0.0, -0.0, 1.5, -2.0, INFINITY, -INFINITY, NAN, 1e308, -1e308};
  enum { KINDS = sizeof special / sizeof *special, ALL = KINDS * KINDS };
  static double parts[2 * ALL];
  for (int i = 0; i < ALL; ++i) {
    parts[2 * i] = special[i % KINDS];
    parts[2 * i + 1] = special[i / KINDS];
  }
  wide *all = complexes((size_t)ALL * ALL);
  pairs(ALL, (const wide *)parts, (const wide *)parts, all);
  show("pairs", (double *)all, 2 * ALL * ALL);
  narrow x[ALL], y[ALL];
  for (int i = 0; i < ALL; ++i) {
    x[i] = (narrow)((wide *)parts)[i];
    y[i] = (narrow)((wide *)parts)[(i * 7) % ALL];
  }
  conjugated(ALL, 2.0f + 0.5f * I, x, y);
  double wider[2 * ALL];
  for (int i = 0; i < 2 * ALL; ++i)
    wider[i] = ((float *)y)[i];
  show("narrow", wider, 2 * ALL);
  return 0;
}
