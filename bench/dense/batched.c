/* A batch of small matrix products: C[b] += A[b] B[b].
 * batched [BATCH N] */
#include "unseen.h"

__attribute__((noinline)) static void kernel(int batch, int n, TYPE C[batch][n][n], TYPE A[batch][n][n], TYPE B[batch][n][n]) {
  for (int b = 0; b < batch; ++b)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k)
          C[b][i][j] += A[b][i][k] * B[b][k][j];
}

int main(int argc, char **argv) {
  int batch = (int)example_arg(argc, argv, 1, 20), n = (int)example_arg(argc, argv, 2, 64);
  size_t count = (size_t)batch * n * n;
  TYPE *C = 0;
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(1);
    free(C);
    C = dense_random(count);
    TYPE *A = dense_random(count), *B = dense_random(count);
    if (count) kernel(batch, n, (void *)C, (void *)A, (void *)B);
    free(A);
    free(B);
  }
  example_print("C", C, count);
  return 0;
}
