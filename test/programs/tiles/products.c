// Sums of products of doubles that may be fused: matrix operations of warps where the device has them. The chain of fused operations on the host is
// the reference (-mfma), so that every bit counts.
// FLAGS: -ffp-contract=on -mfma
// ARGS: 513 517 9
// ARGS: 640 576 40
// ARGS: 530 1100 8
// ARGS: 600 600 0
// ARGS: 1700 1650 37
// OFFLOAD: yes
// TURNS: 3
// KERNELS: product transposed distances lower
#include "example.h"

__attribute__((noinline)) static void product(int n, int m, int k, double alpha, const double *restrict A, const double *restrict B,
                                              double *restrict C) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int l = 0; l < k; ++l)
        C[i * m + j] += alpha * A[i * k + l] * B[l * m + j];
}

// The factor of x first, both transposed, the sum in a scalar.
__attribute__((noinline)) static void transposed(int n, int m, int k, double A[k][n], double B[m][k], double C[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      double sum = 1;
      for (int l = 0; l < k; ++l)
        sum += B[j][l] * A[l][i];
      C[i][j] = sum;
    }
}

// One factor is not the same along x.
__attribute__((noinline)) static void distances(int n, int m, int k, double A[n][k], double B[m][k], double C[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) {
        double d = A[i][l] - B[j][l];
        sum += d * d;
      }
      C[i][j] = sum;
    }
}

// Tiles on the diagonal have points that the loops leave out.
__attribute__((noinline)) static void lower(int n, int k, double A[n][k], double C[n][n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      for (int l = 0; l < k; ++l)
        C[i][j] += A[i][l] * A[j][l];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 513), m = (int)example_arg(argc, argv, 2, 517), k = (int)example_arg(argc, argv, 3, 9);
  size_t nk = (size_t)n * k, km = (size_t)k * m, nm = (size_t)n * m;
  double *A = example_array(nk), *B = example_array(km), *C = example_array(nm), *D = example_array((size_t)n * n);
  example_fill(A, nk);
  example_fill(B, km);
  example_fill(C, nm);
  product(n, m, k, example_uniform(), A, B, C);
  example_print("product", C, nm);
  if (k > 0) transposed(n, m, k, (double(*)[n])A, (double(*)[k])B, (double(*)[m])C);
  example_print("transposed", C, nm);
  if (k > 0) distances(n, m, k, (double(*)[k])A, (double(*)[k])B, (double(*)[m])C);
  example_print("distances", C, nm);
  example_fill(D, (size_t)n * n);
  lower(n, k, (double(*)[k])A, (double(*)[n])D);
  example_print("lower", D, (size_t)n * n);
  return 0;
}
