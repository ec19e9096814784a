// Iterative stencils in three dimensions: seven points and twenty-seven.
// ARGS: 0 5 5 5
// ARGS: 1 8 9 10
// ARGS: 5 3 3 3
// ARGS: 6 2 5 5
// ARGS: 5 17 40 33
// ARGS: 9 40 11 70
// ARGS: 5 30 14 190
// OFFLOAD: yes
// TURNS: 3
// KERNELS: star box
// STRATEGY: streaming 4x32x2x2x1
#include "example.h"

#define BOTH(BODY)                                                                                                             \
  for (int t = 0; t < steps; ++t) {                                                                                            \
    for (int i = 1; i < n - 1; ++i)                                                                                            \
      for (int j = 1; j < m - 1; ++j)                                                                                          \
        for (int k = 1; k < o - 1; ++k)                                                                                        \
          BODY(B, A)                                                                                                           \
    for (int i = 1; i < n - 1; ++i)                                                                                            \
      for (int j = 1; j < m - 1; ++j)                                                                                          \
        for (int k = 1; k < o - 1; ++k)                                                                                        \
          BODY(A, B)                                                                                                           \
  }
#define ARRAYS int steps, int n, int m, int o, TYPE A[restrict n][m][o], TYPE B[restrict n][m][o]

#define STAR(TO, F)                                                                                                            \
  TO[i][j][k] = (TYPE)0.1 * F[i - 1][j][k] + (TYPE)0.2 * F[i + 1][j][k] + (TYPE)0.15 * F[i][j - 1][k] +                        \
                (TYPE)0.13 * F[i][j + 1][k] + (TYPE)0.18 * F[i][j][k - 1] + (TYPE)0.11 * F[i][j][k + 1] + (TYPE)0.12 * F[i][j][k];
__attribute__((noinline)) static void star(ARRAYS) { BOTH(STAR) }

#define PLANE(F, I, W)                                                                                                         \
  (TYPE) W *(F[I][j - 1][k - 1] + F[I][j - 1][k] + F[I][j - 1][k + 1] + F[I][j][k - 1] - F[I][j][k] + F[I][j][k + 1] +         \
             F[I][j + 1][k - 1] + F[I][j + 1][k] - F[I][j + 1][k + 1])
#define BOX(TO, F) TO[i][j][k] = PLANE(F, i - 1, 0.05) + PLANE(F, i, 0.06) + PLANE(F, i + 1, 0.04);
__attribute__((noinline)) static void box(ARRAYS) { BOTH(BOX) }

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5);
  int n = (int)example_arg(argc, argv, 2, 9), m = (int)example_arg(argc, argv, 3, 9), o = (int)example_arg(argc, argv, 4, 9);
  size_t count = (size_t)n * m * o;
  TYPE *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  void *a = A, *b = B;
  star(steps, n, m, o, a, b);
  example_print("A", A, count);
  example_print("B", B, count);
  box(steps, n, m, o, a, b);
  example_print("A", A, count);
  example_print("B", B, count);
  return 0;
}
