// Hexagons of few rows: at some numbers of steps, the last time tile has no block at all where its hull has one.
// ARGS: 34 8 8
// ARGS: 34 11 9
// ARGS: 35 8 24
// ARGS: 40 20 3
// ARGS: 4 3 40
// OFFLOAD: yes
// STRATEGY: hybrid 5x6x256
// STRATEGY: hybrid 5x6x40 windows
// STRATEGY: diamond 12x16
// STRATEGY: split 4x5x6 none
#include "example.h"

__attribute__((noinline)) static void smooth(int steps, int n, int m, TYPE A[restrict n][m],
                                             TYPE B[restrict n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        B[i][j] = A[i][j] * 0.4 + A[i][j] * 0.2 + A[i - 1][j] * 0.3;
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        A[i][j] = B[i][j] * 0.2 + B[i][j] * 0.1 + B[i + 1][j] * 0.3 + B[i][j - 1] * 0.2;
  }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 34), n = (int)example_arg(argc, argv, 2, 8);
  int m = (int)example_arg(argc, argv, 3, 8);
  size_t count = (size_t)n * m;
  TYPE *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  smooth(steps, n, m, (void *)A, (void *)B);
  example_print("A", A, count);
  example_print("B", B, count);
  return 0;
}
