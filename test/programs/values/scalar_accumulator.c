// A sum in a scalar, stored after the inner loop.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void kernel(int n, int m, double A[n][m], double B[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      double sum = 0.125;
      for (int k = 0; k < m; ++k)
        sum += A[i][k] * (double)(k + 1);
      B[i][j] = B[i][j] * 0.5 + sum * (double)(j + 1);
    }
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
