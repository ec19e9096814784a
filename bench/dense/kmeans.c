/* Squared distances of points to centres: D[i,k] = sum over d of (P[i,d] - C[k,d])^2.
 * kmeans [POINTS CENTRES DIMENSIONS] */
#include "unseen.h"

__attribute__((noinline)) static void kernel(int n, int k, int d, TYPE D[n][k], TYPE P[n][d], TYPE C[k][d]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < k; ++j) {
      TYPE sum = 0;
      for (int l = 0; l < d; ++l) {
        TYPE x = P[i][l] - C[j][l];
        sum += x * x;
      }
      D[i][j] = sum;
    }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 300), k = (int)example_arg(argc, argv, 2, 20), d = (int)example_arg(argc, argv, 3, 30);
  TYPE *D = example_array((size_t)n * k);
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(1);
    TYPE *P = dense_random((size_t)n * d), *C = dense_random((size_t)k * d);
    if (n && k && d) kernel(n, k, d, (void *)D, (void *)P, (void *)C);
    free(P);
    free(C);
  }
  example_print("D", D, (size_t)n * k);
  return 0;
}
