// A time loop that computes one plane of an array and reads all of them, at a distance in rows and lines: beside the last column that is read another thread's columns hold
// values that nobody uses, which pass to neighbours together with the last one.
// ARGS: 34 17 17 8
// ARGS: 3 5 4 6
// ARGS: 9 20 33 70
// ARGS: 0 6 6 6
// ARGS: 7 4 3 5
// OFFLOAD: yes
// KERNELS: planes
// STRATEGY: streaming 16x32x2x2x1
#include "example.h"

__attribute__((noinline)) static void planes(int steps, int n, int m, int o, float A[restrict n][m][o], float B[restrict n][m][o]) {
  for (int t = 0; t < steps; t++) {
    for (int j = 0; j < m; j++)
      for (int k = 2; k < o - 1; k++)
        B[2][j][k] = A[2][j][k] * 0.13f + A[2][j][k + 1] * 0.101f;
    for (int i = 2; i < n - 1; i++)
      for (int j = 2; j < m - 1; j++)
        for (int k = 2; k < o - 1; k++)
          A[i][j][k] = B[i][j][k] * 0.135f + B[i - 2][j + 1][k] * 0.193f + B[i][j][k] * 0.143f;
  }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 34), n = (int)example_arg(argc, argv, 2, 17);
  int m = (int)example_arg(argc, argv, 3, 17), o = (int)example_arg(argc, argv, 4, 8);
  size_t count = (size_t)n * m * o;
  double *random = example_array(2 * count), *last = example_array(2 * count);
  float *a = malloc(2 * count * sizeof *a);
  example_fill(random, 2 * count);
  for (size_t i = 0; i < 2 * count; i++)
    a[i] = (float)random[i];
  planes(steps, n, m, o, (void *)a, (void *)(a + count));
  for (size_t i = 0; i < 2 * count; i++)
    last[i] = a[i];
  example_print("A", last, count);
  example_print("B", last + count, count);
  return 0;
}
