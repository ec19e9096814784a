// Sides of a grid that one condition keeps, in one to three dimensions: each side becomes a step of its own.
// ARGS: 5 13
// ARGS: 4 1
// ARGS: 3 2
// ARGS: 6 3
// ARGS: 1 20
// OFFLOAD: yes
// TURNS: 3
// KERNELS: line plane cube
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void line(int steps, int n, double a[2][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 0; i < n; ++i)
      if (i == 0 || i == n - 1)
        a[(t + 1) % 2][i] = a[t % 2][i];
      else
        a[(t + 1) % 2][i] = 0.5 * (a[t % 2][i - 1] + a[t % 2][i + 1]);
}

KERNEL void plane(int steps, int n, double a[2][n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (i == 0 || j == 0 || i == n - 1 || j == n - 1)
          a[(t + 1) % 2][i][j] = 0.5 * a[t % 2][i][j] + 0.25;
        else
          a[(t + 1) % 2][i][j] = 0.25 * (a[t % 2][i - 1][j] + a[t % 2][i + 1][j] + a[t % 2][i][j - 1] + a[t % 2][i][j + 1]);
}

KERNEL void cube(int steps, int n, double a[2][n][n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k)
          if (i == 0 || j == 0 || k == 0 || i == n - 1 || j == n - 1 || k == n - 1)
            a[(t + 1) % 2][i][j][k] = a[t % 2][i][j][k];
          else
            a[(t + 1) % 2][i][j][k] = (a[t % 2][i - 1][j][k] + a[t % 2][i + 1][j][k] + a[t % 2][i][j - 1][k] + a[t % 2][i][j + 1][k] + a[t % 2][i][j][k - 1] +
                                       a[t % 2][i][j][k + 1]) / 6;
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5), n = (int)example_arg(argc, argv, 2, 13);
  size_t count = 2 * (size_t)n * n * n;
  double *A = example_array(count);
  example_fill(A, count);
  line(steps, n * n, (void *)A);
  plane(steps, n, (void *)A);
  cube(steps, n, (void *)A);
  example_print("A", A, count);
  return 0;
}
