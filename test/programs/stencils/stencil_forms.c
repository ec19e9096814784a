// The forms that a time loop around a stencil takes: two and three levels in one array, an update in place of the level before
// last, integers, two coupled fields; and a sweep in place, whose steps can't be fused.
// ARGS: 0 9 9
// ARGS: 1 20 30
// ARGS: 2 20 30
// ARGS: 9 3 50
// ARGS: 24 70 150
// ARGS: 13 130 40
// OFFLOAD: yes
// TURNS: 3
// KERNELS: two_levels three_levels in_place two_fields sweep integers
#include "example.h"

__attribute__((noinline)) static void two_levels(int steps, int n, int m, double A[2][n][m]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        A[(t + 1) % 2][i][j] = 0.3 * A[t % 2][i][j] + 0.2 * (A[t % 2][i - 1][j] + A[t % 2][i + 1][j]) +
                               0.16 * (A[t % 2][i][j - 1] + A[t % 2][i][j + 1]);
}

__attribute__((noinline)) static void three_levels(int steps, int n, int m, double A[3][n][m]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        A[(t + 2) % 3][i][j] = 1.2 * A[(t + 1) % 3][i][j] - 0.9 * A[t % 3][i][j] +
                               0.17 * (A[(t + 1) % 3][i - 1][j] + A[(t + 1) % 3][i + 1][j]) +
                               0.15 * (A[(t + 1) % 3][i][j - 1] + A[(t + 1) % 3][i][j + 1]);
}

__attribute__((noinline)) static void in_place(int steps, int n, int m, double A[restrict n][m], double B[restrict n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        A[i][j] = 0.4 * B[i][j] - 0.5 * A[i][j] + 0.25 * (B[i - 1][j] + B[i + 1][j - 1]);
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        B[i][j] = 0.4 * A[i][j] - 0.5 * B[i][j] + 0.25 * (A[i][j + 1] + A[i + 1][j]);
  }
}

__attribute__((noinline)) static void integers(int steps, int n, int m, unsigned A[restrict n][m], unsigned B[restrict n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        B[i][j] = (A[i - 1][j] ^ A[i + 1][j] << 3) + (A[i][j - 1] >> 2) * A[i][j + 1] + (A[i][j] > 77u ? 5u : A[i][j]);
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        A[i][j] = B[i][j];
  }
}

__attribute__((noinline)) static void two_fields(int steps, int n, int m, double U[restrict n][m], double V[restrict n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n - 1; ++i)
      for (int j = 1; j < m; ++j)
        U[i][j] = U[i][j] - 0.4 * (V[i + 1][j] - V[i][j - 1]);
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        V[i][j] = V[i][j] - 0.3 * (U[i][j + 1] - U[i - 1][j]);
  }
}

__attribute__((noinline)) static void sweep(int steps, int n, int m, double A[n][m]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        A[i][j] = 0.24 * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5);
  int n = (int)example_arg(argc, argv, 2, 33), m = (int)example_arg(argc, argv, 3, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(3 * count), *B = example_array(count);
  example_fill(A, 3 * count);
  example_fill(B, count);
  two_levels(steps, n, m, (void *)A);
  example_print("two levels", A, 2 * count);
  three_levels(steps, n, m, (void *)A);
  example_print("three levels", A, 3 * count);
  example_fill(A, count);
  in_place(steps, n, m, (void *)A, (void *)B);
  example_print("in place", A, count);
  example_print("in place", B, count);
  example_fill(A, count);
  two_fields(steps, n, m, (void *)A, (void *)B);
  example_print("two fields", A, count);
  example_print("two fields", B, count);
  sweep(steps, n, m, (void *)A);
  example_print("sweep", A, count);
  unsigned *I = malloc(4 * count), *J = malloc(4 * count);
  for (size_t i = 0; i < count; ++i) {
    I[i] = (unsigned)example_bits();
    J[i] = (unsigned)example_bits();
  }
  integers(steps, n, m, (void *)I, (void *)J);
  printf("%016llx %016llx\n", (unsigned long long)example_hash(I, 4 * count), (unsigned long long)example_hash(J, 4 * count));
  return 0;
}
