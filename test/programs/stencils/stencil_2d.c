// Iterative stencils in two dimensions: star, box, radius two, one-sided, coefficients from arrays, values of iterators.
// ARGS: 0 9 9
// ARGS: 1 40 40
// ARGS: 9 2 9
// ARGS: 9 3 3
// ARGS: 7 33 17
// ARGS: 12 4 700
// ARGS: 11 150 530
// ARGS: 21 97 64
// ARGS: 10 300 1
// ARGS: 5 260 300
// OFFLOAD: yes
// KERNELS: star box wide corner coefficients
// TURNS: 3
// STRATEGY: streaming 1x32x1x2x1
// STRATEGY: streaming 1x96x1x3x1
#include "example.h"

#define BOTH(BODY, LOW, HIGH)                                                                                                  \
  for (int t = 0; t < steps; ++t) {                                                                                            \
    for (int i = LOW; i < n - HIGH; ++i)                                                                                       \
      for (int j = LOW; j < m - HIGH; ++j)                                                                                     \
        BODY(B, A)                                                                                                             \
    for (int i = LOW; i < n - HIGH; ++i)                                                                                       \
      for (int j = LOW; j < m - HIGH; ++j)                                                                                     \
        BODY(A, B)                                                                                                             \
  }
#define ARRAYS int steps, int n, int m, double A[restrict n][m], double B[restrict n][m]

#define STAR(TO, FROM) TO[i][j] = 0.24 * FROM[i][j] + 0.21 * FROM[i][j - 1] + 0.19 * FROM[i][j + 1] + 0.17 * FROM[i + 1][j] + 0.18 * FROM[i - 1][j];
__attribute__((noinline)) static void star(ARRAYS) { BOTH(STAR, 1, 1) }

#define BOX(TO, FROM)                                                                                                          \
  TO[i][j] = 0.1 * (FROM[i - 1][j - 1] + FROM[i - 1][j] - FROM[i - 1][j + 1]) + 0.3 * FROM[i][j - 1] + 0.25 * FROM[i][j] +     \
             0.2 * FROM[i][j + 1] + 0.12 * (FROM[i + 1][j - 1] - FROM[i + 1][j] + FROM[i + 1][j + 1]);
__attribute__((noinline)) static void box(ARRAYS) { BOTH(BOX, 1, 1) }

#define WIDE(TO, FROM) TO[i][j] = 0.4 * FROM[i][j - 2] - 0.3 * FROM[i][j + 2] + 0.35 * FROM[i + 2][j] + 0.33 * FROM[i - 2][j] + 0.1 * FROM[i - 1][j + 1];
__attribute__((noinline)) static void wide(ARRAYS) { BOTH(WIDE, 2, 2) }

#define CORNER(TO, FROM) TO[i][j] = 0.6 * FROM[i - 1][j - 2] + 0.3 * FROM[i - 2][j] - 0.1 * FROM[i][j - 1] + 0.01 * i - 0.02 * j + 0.001 * t;
__attribute__((noinline)) static void corner(ARRAYS) { BOTH(CORNER, 2, 0) }

__attribute__((noinline)) static void coefficients(int steps, int n, int m, double A[restrict n][m], double B[restrict n][m],
                                                   double C[restrict n][m], double *restrict D) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        B[i][j] = C[i][j] * A[i][j] + D[t] * (A[i - 1][j] + A[i + 1][j]) + C[i - 1][j + 1] * A[i][j + 1];
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        A[i][j] = B[i][j];
  }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5);
  int n = (int)example_arg(argc, argv, 2, 33), m = (int)example_arg(argc, argv, 3, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(count), *B = example_array(count), *C = example_array(count), *D = example_array(steps);
  example_fill(A, count);
  example_fill(B, count);
  example_fill(C, count);
  example_fill(D, steps);
  void *a = A, *b = B, *c = C;
  star(steps, n, m, a, b);
  example_print("star", A, count);
  example_print("star", B, count);
  box(steps, n, m, a, b);
  example_print("box", A, count);
  example_print("box", B, count);
  wide(steps, n, m, a, b);
  example_print("wide", A, count);
  example_print("wide", B, count);
  corner(steps, n, m, a, b);
  example_print("corner", A, count);
  example_print("corner", B, count);
  coefficients(steps, n, m, a, b, c, D);
  example_print("coefficients", A, count);
  example_print("coefficients", B, count);
  return 0;
}
