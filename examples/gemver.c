/* A = A + u1 v1' + u2 v2'; x = x + beta A' y + z; w = w + alpha A x: several loop nests, with calls in between so that they stay
 * apart.
 * gemver [N [SEED]] */
#include "example.h"

__attribute__((noinline)) static void gemver(int n, TYPE alpha, TYPE beta, TYPE A[n][n], TYPE u1[n], TYPE v1[n], TYPE u2[n],
                                             TYPE v2[n], TYPE w[n], TYPE x[n], TYPE y[n], TYPE z[n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
  example_print("A", &A[0][0], (size_t)n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      x[i] = x[i] + beta * A[j][i] * y[j];
  for (int i = 0; i < n; ++i)
    x[i] = x[i] + z[i];
  example_print("x", x, (size_t)n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      w[i] = w[i] + alpha * A[i][j] * x[j];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 600);
  long seed = example_arg(argc, argv, 2, 1);
  TYPE *A = example_array((size_t)n * n), *vectors[8];
  for (int v = 0; v < 8; ++v)
    vectors[v] = example_array((size_t)n);
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(seed);
    example_fill(A, (size_t)n * n);
    for (int v = 0; v < 8; ++v)
      example_fill(vectors[v], (size_t)n);
    TYPE alpha = (TYPE)example_uniform(), beta = (TYPE)example_uniform();
    if (n > 0)
      gemver(n, alpha, beta, (TYPE(*)[n])A, vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5], vectors[6],
             vectors[7]);
  }
  example_print("w", vectors[4], (size_t)n);
  free(A);
  for (int v = 0; v < 8; ++v)
    free(vectors[v]);
  return 0;
}
