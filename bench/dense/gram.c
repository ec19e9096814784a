/* The Gram matrix of columns: G[i,j] = sum over k of A[k,i] * A[k,j].
 * gram [N K] */
#include "unseen.h"

__attribute__((noinline)) static void kernel(int n, int k, TYPE G[n][n], TYPE A[k][n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      TYPE sum = 0;
      for (int l = 0; l < k; ++l)
        sum += A[l][i] * A[l][j];
      G[i][j] = sum;
    }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 300), k = (int)example_arg(argc, argv, 2, 50);
  TYPE *G = example_array((size_t)n * n);
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(1);
    TYPE *A = dense_random((size_t)k * n);
    if (n && k) kernel(n, k, (void *)G, (void *)A);
    free(A);
  }
  example_print("G", G, (size_t)n * n);
  return 0;
}
