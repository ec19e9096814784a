// Stencils whose statements write different parts of their arrays: a source row before each step, boundary rows and columns that follow
// their neighbours, statements that write two fields, a wave with a velocity for each point.
// ARGS: 0 9 9
// ARGS: 1 20 30
// ARGS: 3 3 5
// ARGS: 9 4 50
// ARGS: 25 70 150
// ARGS: 13 130 40
// OFFLOAD: yes
// TURNS: 3
// KERNELS: source_row insulated two_writes wave
#include "example.h"

#define FIELD(A) double A[restrict n][m]

__attribute__((noinline)) static void source_row(int steps, int n, int m, FIELD(ex), FIELD(ey), FIELD(hz), double *restrict source) {
  for (int t = 0; t < steps; ++t) {
    for (int j = 0; j < m; ++j)
      ey[0][j] = source[t];
    for (int i = 1; i < n; ++i)
      for (int j = 0; j < m; ++j)
        ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
    for (int i = 0; i < n; ++i)
      for (int j = 1; j < m; ++j)
        ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
    for (int i = 0; i < n - 1; ++i)
      for (int j = 0; j < m - 1; ++j)
        hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}

__attribute__((noinline)) static void insulated(int steps, int n, int m, FIELD(A), FIELD(B)) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        B[i][j] = 0.3 * A[i][j] + 0.2 * (A[i - 1][j] + A[i + 1][j]) + 0.15 * (A[i][j - 1] + A[i][j + 1]);
    for (int j = 1; j < m - 1; ++j)
      B[0][j] = B[1][j];
    for (int j = 1; j < m - 1; ++j)
      B[n - 1][j] = 0.5 * B[n - 2][j] + 0.5 * A[n - 1][j];
    for (int i = 0; i < n; ++i)
      B[i][m - 1] = B[i][m - 2];
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        A[i][j] = B[i][j];
  }
}

__attribute__((noinline)) static void two_writes(int steps, int n, int m, FIELD(U), FIELD(V), FIELD(W), FIELD(X)) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j) {
        double u = U[i][j], v = V[i][j];
        W[i][j] = 0.5 * u + 0.1 * (U[i - 1][j] + U[i + 1][j - 1]) - 0.2 * u * v;
        X[i][j] = 0.5 * v + 0.1 * (V[i][j - 1] + V[i + 1][j]) + 0.2 * u * v;
      }
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j) {
        U[i][j] = W[i][j] + 0.01 * X[i][j];
        V[i][j] = X[i][j] - 0.01 * W[i][j];
      }
  }
}

__attribute__((noinline)) static void wave(int steps, int n, int m, double U[restrict 3][n][m], FIELD(V)) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 2; j < m - 1; ++j)
        U[(t + 2) % 3][i][j] = 2 * U[(t + 1) % 3][i][j] - U[t % 3][i][j] +
                               0.2 * V[i][j] * V[i][j] * (U[(t + 1) % 3][i - 1][j] + U[(t + 1) % 3][i + 1][j] + U[(t + 1) % 3][i][j - 2] +
                                                          U[(t + 1) % 3][i][j + 1] - 4 * U[(t + 1) % 3][i][j]);
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5);
  int n = (int)example_arg(argc, argv, 2, 33), m = (int)example_arg(argc, argv, 3, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(3 * count), *B = example_array(count), *C = example_array(count), *D = example_array(count);
  double *source = example_array(steps);
  example_fill(A, 3 * count);
  example_fill(B, count);
  example_fill(C, count);
  example_fill(D, count);
  example_fill(source, steps);
  source_row(steps, n, m, (void *)A, (void *)B, (void *)C, source);
  example_print("ex", A, count);
  example_print("ey", B, count);
  example_print("hz", C, count);
  example_fill(A, count);
  insulated(steps, n, m, (void *)A, (void *)B);
  example_print("A", A, count);
  example_print("B", B, count);
  example_fill(A, count);
  example_fill(B, count);
  two_writes(steps, n, m, (void *)A, (void *)B, (void *)C, (void *)D);
  example_print("U", A, count);
  example_print("V", B, count);
  example_print("W", C, count);
  example_print("X", D, count);
  example_fill(B, count);
  wave(steps, n, m, (void *)A, (void *)B);
  example_print("wave", A, 3 * count);
  return 0;
}
