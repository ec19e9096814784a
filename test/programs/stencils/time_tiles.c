// Stencils by every kind of time tile: one to three dimensions, several statements, asymmetric and one-sided distances, three time levels,
// from no step on, at sizes that are no multiple of any tile.
// ARGS: 5 33 17 9
// ARGS: 0 9 9 9
// ARGS: 1 3 3 3
// ARGS: 2 4 70 3
// ARGS: 3 2 9 9
// ARGS: 13 41 37 12
// OFFLOAD: yes
// TURNS: 3
// STRATEGY: hybrid 1x1x3x5 windows
// STRATEGY: hybrid 1x1x3x5 windows+unroll
// STRATEGY: diamond 3x5x4
// STRATEGY: split 3x2x1x4 none
#include "example.h"

__attribute__((noinline)) static void levels(int steps, int n, double A[2][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      A[(t + 1) % 2][i] = 0.3 * A[t % 2][i - 1] + 0.4 * A[t % 2][i] + 0.29 * A[t % 2][i + 1] + 0.001 * i;
}

__attribute__((noinline)) static void one_sided(int steps, int n, double A[restrict n], double B[restrict n]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 3; i < n; ++i)
      B[i] = 0.4 * A[i - 3] + 0.5 * A[i - 1] + 0.05 * A[i];
    for (int i = 3; i < n; ++i)
      A[i] = B[i];
  }
}

__attribute__((noinline)) static void box(int steps, int n, int m, double A[restrict n][m], double B[restrict n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 2; j < m - 1; ++j)
        B[i][j] = 0.3 * A[i][j] + 0.2 * A[i - 1][j - 2] + 0.21 * A[i + 1][j] + 0.15 * A[i][j - 1] + 0.13 * A[i][j + 1];
    for (int i = 1; i < n - 1; ++i)
      for (int j = 2; j < m - 1; ++j)
        A[i][j] = 0.3 * B[i][j] + 0.2 * B[i - 1][j - 2] + 0.21 * B[i + 1][j] + 0.15 * B[i][j - 1] + 0.13 * B[i][j + 1];
  }
}

__attribute__((noinline)) static void fdtd(int steps, int n, int m, double X[restrict n][m], double Y[restrict n][m],
                                           double H[restrict n][m], double *restrict f) {
  for (int t = 0; t < steps; ++t) {
    for (int j = 0; j < m; ++j)
      Y[0][j] = f[t];
    for (int i = 1; i < n; ++i)
      for (int j = 0; j < m; ++j)
        Y[i][j] -= 0.5 * (H[i][j] - H[i - 1][j]);
    for (int i = 0; i < n; ++i)
      for (int j = 1; j < m; ++j)
        X[i][j] -= 0.5 * (H[i][j] - H[i][j - 1]);
    for (int i = 0; i < n - 1; ++i)
      for (int j = 0; j < m - 1; ++j)
        H[i][j] -= 0.7 * (X[i][j + 1] - X[i][j] + Y[i + 1][j] - Y[i][j]);
  }
}

__attribute__((noinline)) static void wave(int steps, int n, int m, int l, double A[3][n][m][l]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        for (int k = 1; k < l - 1; ++k)
          A[(t + 2) % 3][i][j][k] = 1.1 * A[(t + 1) % 3][i][j][k] - 0.9 * A[t % 3][i][j][k] +
                                    0.1 * (A[(t + 1) % 3][i - 1][j][k] + A[(t + 1) % 3][i + 1][j][k]) +
                                    0.11 * (A[(t + 1) % 3][i][j - 1][k] + A[(t + 1) % 3][i][j + 1][k]) +
                                    0.12 * (A[(t + 1) % 3][i][j][k - 1] + A[(t + 1) % 3][i][j][k + 1]);
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5), n = (int)example_arg(argc, argv, 2, 33);
  int m = (int)example_arg(argc, argv, 3, 17), l = (int)example_arg(argc, argv, 4, 9);
  size_t count = 3 * (size_t)n * m * l;
  double *A = example_array(count), *B = example_array(count), *C = example_array(count), *f = example_array(steps + 1);
  example_fill(A, count);
  example_fill(B, count);
  example_fill(C, count);
  example_fill(f, steps + 1);
  levels(steps, n, (void *)A);
  example_print("levels", A, count);
  one_sided(steps, n, A, B);
  example_print("one-sided", A, count);
  example_print("one-sided", B, count);
  box(steps, n, m, (void *)A, (void *)B);
  example_print("box", A, count);
  example_print("box", B, count);
  fdtd(steps, n, m, (void *)A, (void *)B, (void *)C, f);
  example_print("fdtd", A, count);
  example_print("fdtd", B, count);
  example_print("fdtd", C, count);
  wave(steps, n, m, l, (void *)A);
  example_print("wave", A, count);
  return 0;
}
