// Two time levels in one array, selected by the parity of the step.
// ARGS: 5 33 17
// ARGS: 0 9 9
// ARGS: 4 3 50
// ARGS: 3 2 2
// OFFLOAD: yes
// KERNELS: kernel
#include "example.h"


__attribute__((noinline)) static void kernel(int steps, int n, int m, double A[2][n][m]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        A[(t + 1) % 2][i][j] = 0.3 * A[t % 2][i][j] + 0.2 * (A[t % 2][i - 1][j] + A[t % 2][i + 1][j]) +
                               0.15 * (A[t % 2][i][j - 1] + A[t % 2][i][j + 1]);
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5);
  int n = (int)example_arg(argc, argv, 2, 33), m = (int)example_arg(argc, argv, 3, 17);
  size_t count = 2 * (size_t)n * m;
  double *A = example_array(count);
  example_fill(A, count);
  if (count)
    kernel(steps, n, m, (double(*)[n][m])A);
  example_print("A", A, count);
  return 0;
}
