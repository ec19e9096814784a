// Factorisations and solves in one launch each: blocks claim tiles of 64 x 64 elements in order and wait for those that they read.
// ARGS: 0
// ARGS: 1
// ARGS: 63
// ARGS: 64
// ARGS: 65
// ARGS: 129
// ARGS: 150
// OFFLOAD: yes
// TURNS: 3
// KERNELS: cholesky lu doolittle solve columns
// FLAGS: -fno-math-errno
// STRATEGY: graph
#include "example.h"
#include <math.h>

#define KERNEL __attribute__((noinline)) static void

KERNEL cholesky(int n, double a[n][n]) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      for (int k = 0; k < j; ++k)
        a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
    for (int k = 0; k < i; ++k)
      a[i][i] -= a[i][k] * a[i][k];
    a[i][i] = sqrt(a[i][i]);
  }
}

KERNEL lu(int n, float a[n][n]) {
  for (int k = 0; k < n; ++k) {
    for (int i = k + 1; i < n; ++i)
      a[i][k] /= a[k][k];
    for (int i = k + 1; i < n; ++i)
      for (int j = k + 1; j < n; ++j)
        a[i][j] -= a[i][k] * a[k][j];
  }
}

KERNEL doolittle(int n, double a[n][n]) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      for (int k = 0; k < j; ++k)
        a[i][j] -= a[i][k] * a[k][j];
      a[i][j] /= a[j][j];
    }
    for (int j = i; j < n; ++j)
      for (int k = 0; k < i; ++k)
        a[i][j] -= a[i][k] * a[k][j];
  }
}

KERNEL solve(int n, double l[n][n], double x[n], const double b[n]) {
  for (int i = 0; i < n; ++i) {
    x[i] = b[i];
    for (int j = 0; j < i; ++j)
      x[i] -= l[i][j] * x[j];
    x[i] /= l[i][i];
  }
}

KERNEL columns(int n, double l[n][n], double x[n]) {
  for (int k = 0; k < n; ++k) {
    x[k] /= l[k][k];
    for (int i = k + 1; i < n; ++i)
      x[i] -= l[i][k] * x[k];
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 129);
  size_t count = (size_t)n * (size_t)n;
  double *a = example_array(count), *x = example_array((size_t)n), *b = example_array((size_t)n);
  float *f = malloc((count + 1) * sizeof *f);
  example_fill(a, count);
  example_fill(b, (size_t)n);
  for (size_t i = 0; i < count; ++i)
    f[i] = (float)a[i];
  for (int d = 0; d < n; ++d) {
    a[(size_t)d * n + d] += 2 * n;
    f[(size_t)d * n + d] += (float)(2 * n);
  }
  cholesky(n, (void *)a);
  solve(n, (void *)a, x, b);
  example_print("L", a, count);
  example_print("x", x, (size_t)n);
  doolittle(n, (void *)a);
  columns(n, (void *)a, x);
  example_print("U", a, count);
  example_print("y", x, (size_t)n);
  lu(n, (void *)f);
  printf("%a %a\n", n ? (double)f[count - 1] : 0, n ? (double)f[count / 2] : 0);
  free(a);
  free(x);
  free(b);
  free(f);
  return 0;
}
