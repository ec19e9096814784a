/* A chain of products with transposes: D = A^T B, E = D C^T.
 * chain [N M K L] */
#include "unseen.h"

__attribute__((noinline)) static void kernel(int n, int m, int k, int l, TYPE E[n][l], TYPE D[n][m], TYPE A[k][n], TYPE B[k][m],
                                             TYPE C[l][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      D[i][j] = 0;
      for (int p = 0; p < k; ++p)
        D[i][j] += A[p][i] * B[p][j];
    }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < l; ++j) {
      E[i][j] = 0;
      for (int p = 0; p < m; ++p)
        E[i][j] += D[i][p] * C[j][p];
    }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 60), m = (int)example_arg(argc, argv, 2, 70);
  int k = (int)example_arg(argc, argv, 3, 50), l = (int)example_arg(argc, argv, 4, 80);
  TYPE *E = example_array((size_t)n * l);
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(1);
    TYPE *A = dense_random((size_t)k * n), *B = dense_random((size_t)k * m), *C = dense_random((size_t)l * m);
    TYPE *D = dense_random((size_t)n * m);
    if (n && m && k && l) kernel(n, m, k, l, (void *)E, (void *)D, (void *)A, (void *)B, (void *)C);
    free(A);
    free(B);
    free(C);
    free(D);
  }
  example_print("E", E, (size_t)n * l);
  return 0;
}
