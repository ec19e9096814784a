// Kernels whose code may come later than that of plain ones: products in register tiles, fused steps, and a graph of tiles, each some times.
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 131 9
// OFFLOAD: yes
// KERNELS: product steps cholesky
// FLAGS: -fno-math-errno
// STRATEGY: late
#include "example.h"
#include <math.h>

#define KERNEL __attribute__((noinline)) static void

KERNEL product(int n, int m, float A[n][m], float B[m][n], float C[n][n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      C[i][j] *= 0.5f;
      for (int k = 0; k < m; ++k)
        C[i][j] += A[i][k] * B[k][j];
    }
}

KERNEL steps(int t, int n, double A[n][n], double B[n][n]) {
  for (int s = 0; s < t; ++s) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        B[i][j] = 0.3 * (A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        A[i][j] = 0.25 * (B[i][j] + B[i - 1][j] + B[i + 1][j] + B[i][j - 1] + B[i][j + 1]);
  }
}

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

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 130), t = (int)example_arg(argc, argv, 2, 3), m = n / 3 + 1;
  size_t nn = (size_t)n * n, nm = (size_t)n * m;
  float *A = malloc((nm + 1) * sizeof *A), *B = malloc((nm + 1) * sizeof *B), *C = malloc((nn + 1) * sizeof *C);
  double *D = example_array(nn), *E = example_array(nn), *S = example_array(nn), *R = example_array(nn);
  example_fill(D, nn);
  example_fill(E, nn);
  for (size_t i = 0; i < nm; ++i) {
    A[i] = (float)example_uniform();
    B[i] = (float)example_uniform();
  }
  for (size_t i = 0; i < nn; ++i) C[i] = (float)D[i];
  for (int r = 0; r < 3; ++r) {
    product(n, m, (float(*)[m])A, (float(*)[n])B, (float(*)[n])C);
    steps(t, n, (double(*)[n])D, (double(*)[n])E);
    example_fill(S, nn);
    for (int i = 0; i < n; ++i) S[(size_t)i * n + i] += 2 * n;
    cholesky(n, (double(*)[n])S);
    for (size_t i = 0; i < nn; ++i) R[i] = C[i];
    example_print("product", R, nn);
    example_print("steps", D, nn);
    example_print("cholesky", S, nn);
  }
  return 0;
}
