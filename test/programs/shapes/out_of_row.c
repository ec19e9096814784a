// Subscripts leave their row: the assumed shape does not hold at run time.
// ARGS: 33 17
// ARGS: 9 40
// OFFLOAD: yes
// KERNELS: kernel
#include "example.h"

__attribute__((noinline)) static void kernel(int n, int m, double A[n][m], double B[n][m]) {
  double *flat = &A[0][0];
  for (int i = 0; i < n - 1; ++i)
    for (int j = 0; j < m; ++j)
      flat[i * m + j + m / 2] = B[i][j] * 0.5;
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
