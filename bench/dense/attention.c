/* Attention without softmax, by heads: S = Q K^T / 8, O = S V.
 * attention [HEADS N D] */
#include "unseen.h"

__attribute__((noinline)) static void kernel(int heads, int n, int d, TYPE O[heads][n][d], TYPE S[heads][n][n], TYPE Q[heads][n][d],
                                             TYPE K[heads][n][d], TYPE V[heads][n][d]) {
  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        TYPE sum = 0;
        for (int k = 0; k < d; ++k)
          sum += Q[h][i][k] * K[h][j][k];
        S[h][i][j] = sum * (TYPE)0.125;
      }
  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < d; ++j) {
        TYPE sum = 0;
        for (int k = 0; k < n; ++k)
          sum += S[h][i][k] * V[h][k][j];
        O[h][i][j] = sum;
      }
}

int main(int argc, char **argv) {
  int h = (int)example_arg(argc, argv, 1, 4), n = (int)example_arg(argc, argv, 2, 60), d = (int)example_arg(argc, argv, 3, 64);
  size_t count = (size_t)h * n * d;
  TYPE *O = example_array(count), *S = example_array((size_t)h * n * n);
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(1);
    TYPE *Q = dense_random(count), *K = dense_random(count), *V = dense_random(count);
    if (count) kernel(h, n, d, (void *)O, (void *)S, (void *)Q, (void *)K, (void *)V);
    free(Q);
    free(K);
    free(V);
  }
  example_print("O", O, count);
  return 0;
}
