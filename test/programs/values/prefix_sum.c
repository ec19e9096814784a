// A recurrence along each row, and one down the columns.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
// KERNELS: kernel
#include "example.h"

__attribute__((noinline)) static void kernel(int n, int m, double A[n][m], double B[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 1; j < m; ++j)
      A[i][j] += A[i][j - 1] * 0.5;
  for (int i = 1; i < n; ++i)
    for (int j = 0; j < m; ++j)
      B[i][j] += B[i - 1][j] * 0.5;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  if (count)
    kernel(n, m, (double(*)[m])A, (double(*)[m])B);
  example_print("A", A, count);
  example_print("B", B, count);
  free(A);
  free(B);
  return 0;
}
