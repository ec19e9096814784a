// Products of matrices whose sizes leave a nearly empty wave of large tiles: the last rows run in small ones.
// ARGS: 513 520 3
// ARGS: 0 3 2
// ARGS: 2600 2600 2
// ARGS: 2561 2650 1
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void product(int n, int m, int p, TYPE C[n][m], TYPE A[n][p], TYPE B[p][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * B[k][j];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 513), m = (int)example_arg(argc, argv, 2, 520), p = (int)example_arg(argc, argv, 3, 3);
  TYPE *A = example_array((size_t)n * p), *B = example_array((size_t)p * m), *C = example_array((size_t)n * m);
  example_fill(A, (size_t)n * p);
  example_fill(B, (size_t)p * m);
  example_fill(C, (size_t)n * m);
  if (n > 0 && m > 0 && p > 0)
    product(n, m, p, (void *)C, (void *)A, (void *)B);
  example_print("C", C, (size_t)n * m);
  free(A);
  free(B);
  free(C);
  return 0;
}
