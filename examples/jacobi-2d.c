/* A five-point stencil, from A to B and back: two statements under one time loop.
 * jacobi-2d [STEPS ROWS COLUMNS [SEED]] */
#include "example.h"

__attribute__((noinline)) static void jacobi(int steps, int n, int m, TYPE A[n][m], TYPE B[n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        B[i][j] = (TYPE)0.24 * A[i][j] + (TYPE)0.21 * A[i][j - 1] + (TYPE)0.19 * A[i][j + 1] + (TYPE)0.17 * A[i + 1][j] +
                  (TYPE)0.18 * A[i - 1][j];
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        A[i][j] = (TYPE)0.24 * B[i][j] + (TYPE)0.21 * B[i][j - 1] + (TYPE)0.19 * B[i][j + 1] + (TYPE)0.17 * B[i + 1][j] +
                  (TYPE)0.18 * B[i - 1][j];
  }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 20);
  int n = (int)example_arg(argc, argv, 2, 500), m = (int)example_arg(argc, argv, 3, 450);
  long seed = example_arg(argc, argv, 4, 1);
  size_t count = (size_t)n * m;
  TYPE *A = example_array(count), *B = example_array(count);
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(seed);
    example_fill(A, count);
    example_fill(B, count);
    if (n > 0 && m > 0)
      jacobi(steps, n, m, (TYPE(*)[m])A, (TYPE(*)[m])B);
  }
  example_print("A", A, count);
  example_print("B", B, count);
  free(A);
  free(B);
  return 0;
}
