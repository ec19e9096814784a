// Products of doubles whose rows begin in the middle of 16 bytes, every other one or all: each operand, transposed or not, with its own place in memory.
// Sizes around a tile and a strip; large and small tiles, and what no tile fills. The chain of fused operations on the host is the reference (-mfma).
// FLAGS: -ffp-contract=on -mfma
// ARGS: 513 517 17 0 0
// ARGS: 577 575 47 1 0
// ARGS: 640 641 32 0 1
// ARGS: 641 640 33 1 1
// ARGS: 1 530 49 1 0
// ARGS: 530 1 49 0 1
// ARGS: 700 1 1 1 1
// ARGS: 1023 2047 34 1 1
// ARGS: 2047 1023 33 0 1
// OFFLOAD: yes
// KERNELS: plain left right both part lower
// TURNS: 3
#include "example.h"

__attribute__((noinline)) static void plain(int n, int m, int l, double A[n][l], double B[l][m], double C[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int k = 0; k < l; ++k)
        C[i][j] += A[i][k] * B[k][j];
}

__attribute__((noinline)) static void left(int n, int m, int l, double A[l][n], double B[l][m], double C[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int k = 0; k < l; ++k)
        C[i][j] += A[k][i] * B[k][j];
}

__attribute__((noinline)) static void right(int n, int m, int l, double A[n][l], double B[m][l], double C[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int k = 0; k < l; ++k)
        C[i][j] += A[i][k] * B[j][k];
}

__attribute__((noinline)) static void both(int n, int m, int l, double A[l][n], double B[m][l], double C[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int k = 0; k < l; ++k)
        C[i][j] += A[k][i] * B[j][k];
}

// Parts of larger matrices: what lies beside a tile's rows is not the loop's. The sum goes backwards.
__attribute__((noinline)) static void part(int n, int m, int l, double A[n][l], double B[l][m], double C[n][m]) {
  for (int i = 1; i < n - 1; ++i)
    for (int j = 1; j < m - 2; ++j)
      for (int k = 1; k < l - 1; ++k)
        C[i][j] += A[i][l - 1 - k] * B[k][j];
}

// Points on one side of the diagonal, of which tiles have some.
__attribute__((noinline)) static void lower(int n, int l, double A[n][l], double C[n][n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      for (int k = 0; k < l; ++k)
        C[i][j] += A[i][k] * A[j][k];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 513), m = (int)example_arg(argc, argv, 2, 517), l = (int)example_arg(argc, argv, 3, 17);
  // Elements between the start of an allocation and the operand.
  long a = example_arg(argc, argv, 4, 0), b = example_arg(argc, argv, 5, 0);
  size_t nl = (size_t)n * l, lm = (size_t)l * m, nm = (size_t)n * m, most = nm > (size_t)n * n ? nm : (size_t)n * n;
  double *A = example_array(nl + a), *B = example_array(lm + b), *C = example_array(most);
  example_fill(A, nl + a);
  example_fill(B, lm + b);
  example_fill(C, most);
  void *x = A + a, *y = B + b;
  plain(n, m, l, x, y, (void *)C);
  example_print("plain", C, nm);
  left(n, m, l, x, y, (void *)C);
  example_print("left", C, nm);
  right(n, m, l, x, y, (void *)C);
  example_print("right", C, nm);
  both(n, m, l, x, y, (void *)C);
  example_print("both", C, nm);
  part(n, m, l, x, y, (void *)C);
  example_print("part", C, nm);
  lower(n, l, x, (void *)C);
  example_print("lower", C, (size_t)n * n);
  free(A);
  free(B);
  free(C);
  return 0;
}
