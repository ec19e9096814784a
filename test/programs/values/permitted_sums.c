// Sums and products that a pragma of their loop lets be regrouped. The numbers are such that no order rounds: the results are the same bit for bit.
//
// ARGS: 1000
// ARGS: 0
// ARGS: 1
// ARGS: 2
// ARGS: 70001
// FLAGS: -fopenmp-simd -Wno-pass-failed
// OFFLOAD: yes
// KERNELS: sum dot difference positive product rows both
#include "example.h"

#define KEEP __attribute__((noinline)) static

KEEP double sum(int n, const double *a) {
  double s = 3;
#pragma clang loop vectorize(enable)
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}

KEEP float dot(int n, const float *a, const float *b) {
  float s = 0;
#pragma omp simd reduction(+ : s)
  for (int i = 0; i < n; i++)
    s += a[i] * b[i];
  return s;
}

KEEP double difference(int n, const double *a) {
  double s = 1;
#pragma omp simd reduction(- : s)
  for (int i = 0; i < n; i++)
    s -= 2 * a[i];
  return s;
}

KEEP double positive(int n, const double *a) {
  double s = 0;
#pragma clang loop vectorize(enable)
  for (int i = 0; i < n; i++)
    s += a[i] > 0 ? a[i] : 0;
  return s;
}

/* Powers of two. */
KEEP double product(int n, const double *a) {
  double p = 1;
#pragma clang loop vectorize(enable)
  for (int i = 0; i < n; i++)
    p *= a[i] > 0 ? 2 : 0.5;
  return p;
}

/* The pragma is of the inner loop. */
KEEP void rows(int n, double *restrict y, const double *restrict a) {
  for (int i = 0; i < n; i++) {
    double s = 0;
#pragma clang loop vectorize(enable)
    for (int j = 0; j < n; j++)
      s += a[i + j];
    y[i] = s;
  }
}

KEEP double both(int n, const double *a, double *squares) {
  double s = 0, q = 0;
#pragma omp simd reduction(+ : s, q)
  for (int i = 0; i < n; i++) {
    s += a[i];
    q += a[i] * a[i];
  }
  *squares = q;
  return s;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1000);
  int m = n < 300 ? n : 300;
  double *a = malloc(sizeof(double) * (n + m + 1)), *y = malloc(sizeof(double) * (m + 1)), q = 0;
  float *f = malloc(sizeof(float) * (n + 1)), *g = malloc(sizeof(float) * (n + 1));
  for (int i = 0; i < n + m; i++)
    a[i] = (int)(example_bits() % 2001) - 1000;
  for (int i = 0; i < n; i++) {
    f[i] = (int)(example_bits() % 3) - 1;
    g[i] = (int)(example_bits() % 5) - 2;
  }
  rows(m, y, a);
  for (int i = 0; i < m; i++)
    q += (i + 1) * y[i];
  printf("%.17g\n", q);
  printf("%.17g %.9g %.17g ", sum(n, a), dot(n, f, g), difference(n, a));
  printf("%.17g %.17g ", positive(n, a), product(n < 900 ? n : 900, a));
  double s = both(n, a, &q);
  printf("%.17g %.17g\n", s, q);
}
