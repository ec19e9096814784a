// Cells that innermost loops update, in arrays that the loops read elsewhere: a backward solve with several right-hand sides, factorisations of a batch of
// small matrices, and a loop that comes across its own cell. One loop has no iteration for some rows, whose cells are then left alone.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 40
// ARGS: 19 70
// OFFLOAD: yes
// KERNELS: backward cholesky own_cell
#include "example.h"

__attribute__((noinline)) static void backward(int n, int m, double U[n][n], double B[n][m]) {
  for (int i = n - 1; i >= 0; i--)
    for (int j = 0; j < m; j++) {
      for (int k = i + 1; k < n; k++)
        B[i][j] -= U[i][k] * B[k][j];
      B[i][j] /= U[i][i];
    }
}

__attribute__((noinline)) static void cholesky(int m, int n, double A[m][n][n]) {
  for (int b = 0; b < m; b++)
    for (int j = 0; j < n; j++) {
      for (int i = 0; i < j; i++) {
        for (int k = 0; k < i; k++)
          A[b][j][i] -= A[b][j][k] * A[b][i][k];
        A[b][j][i] /= A[b][i][i];
      }
      for (int k = 0; k < j; k++)
        A[b][j][j] -= 0.01 * A[b][j][k] * A[b][j][k];
    }
}

__attribute__((noinline)) static void own_cell(int n, int m, double B[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < n; k++)
        B[i][j] -= 0.125 * B[k][j];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t square = (size_t)n * n, count = (size_t)n * m, batch = square * m;
  double *U = example_array(square), *B = example_array(count), *C = example_array(count), *A = example_array(batch);
  example_fill(U, square);
  example_fill(B, count);
  example_fill(C, count);
  example_fill(A, batch);
  for (int i = 0; i < n; i++)
    U[(size_t)i * n + i] += n;
  for (size_t b = 0; b < (size_t)m; b++)
    for (int i = 0; i < n; i++)
      A[b * square + (size_t)i * n + i] += n;
  backward(n, m, (double(*)[n])U, (double(*)[m])B);
  cholesky(m, n, (double(*)[n][n])A);
  own_cell(n, m, (double(*)[m])C);
  example_print("B", B, count);
  example_print("A", A, batch);
  example_print("C", C, count);
  free(U);
  free(B);
  free(C);
  free(A);
  return 0;
}
