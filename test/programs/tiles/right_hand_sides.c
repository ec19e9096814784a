// A triangular system with many right-hand sides: parallel around loops that are not. Blocks claim tiles of 64 x 64 elements, whatever the order of the loops.
// ARGS: 0 5
// ARGS: 1 1
// ARGS: 64 65
// ARGS: 65 129
// ARGS: 150 40
// OFFLOAD: yes
// KERNELS: columns rows pushed lower upper
// STRATEGY: graph
#include "example.h"

#define KERNEL __attribute__((noinline)) static void

KERNEL columns(int n, int m, double l[n][n], double b[n][m]) {
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < i; ++k)
        b[i][j] -= l[i][k] * b[k][j];
      b[i][j] /= l[i][i];
    }
}

KERNEL rows(int n, int m, double l[n][n], double b[n][m]) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k)
      for (int j = 0; j < m; ++j)
        b[i][j] -= l[i][k] * b[k][j];
    for (int j = 0; j < m; ++j)
      b[i][j] /= l[i][i];
  }
}

// As in reference implementations of BLAS.
KERNEL pushed(int n, int m, float l[n][n], float b[n][m]) {
  for (int j = 0; j < m; ++j)
    for (int k = 0; k < n; ++k) {
      b[k][j] /= l[k][k];
      for (int i = k + 1; i < n; ++i)
        b[i][j] -= b[k][j] * l[i][k];
    }
}

// Systems are rows.
KERNEL lower(int n, int m, double l[n][n], double b[m][n]) {
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < i; ++k)
        b[j][i] -= l[i][k] * b[j][k];
      b[j][i] /= l[i][i];
    }
}

// From the last unknown to the first one.
KERNEL upper(int n, int m, double u[n][n], double b[n][m]) {
  for (int j = 0; j < m; ++j)
    for (int i = n - 1; i >= 0; --i) {
      for (int k = n - 1; k > i; --k)
        b[i][j] -= u[i][k] * b[k][j];
      b[i][j] /= u[i][i];
    }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 65), m = (int)example_arg(argc, argv, 2, 129);
  size_t square = (size_t)n * (size_t)n, count = (size_t)n * (size_t)m;
  double *a = example_array(square), *b = example_array(count);
  float *l = malloc((square + 1) * sizeof *l), *f = malloc((count + 1) * sizeof *f);
  example_fill(a, square);
  example_fill(b, count);
  for (int d = 0; d < n; ++d)
    a[(size_t)d * n + d] += 2 * n;
  for (size_t i = 0; i < square; ++i)
    l[i] = (float)a[i];
  for (size_t i = 0; i < count; ++i)
    f[i] = (float)b[i];
  columns(n, m, (void *)a, (void *)b);
  example_print("columns", b, count);
  rows(n, m, (void *)a, (void *)b);
  example_print("rows", b, count);
  upper(n, m, (void *)a, (void *)b);
  example_print("upper", b, count);
  lower(n, m, (void *)a, (void *)b);
  example_print("lower", b, count);
  pushed(n, m, (void *)l, (void *)f);
  float sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += f[i] * (float)(i % 7);
  printf("%a\n", (double)sum);
  free(a);
  free(b);
  free(l);
  free(f);
  return 0;
}
