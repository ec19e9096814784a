// A relaxation until it converges: the arrays stay on the device, the residual is read each time round, a line of the grid sometimes.
// ARGS: 30 22
// ARGS: 3 3
// ARGS: 65 33
// ARGS: 0 0
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void look(const double *row, int m, int step) {
  printf("step %d %.17g %.17g\n", step, row[0], row[m - 1]);
}

__attribute__((noinline)) static int relax(int n, int m, double *restrict u, double *restrict v, double eps) {
  double change;
  int steps = 0;
  if (n < 3 || m < 3)
    return 0;
  do {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        v[i * m + j] = 0.25 * (u[(i - 1) * m + j] + u[(i + 1) * m + j] + u[i * m + j - 1] + u[i * m + j + 1]);
    change = 0;
    for (int i = 1; i < n - 1; ++i) {
      double d = v[i * m + m / 2] - u[i * m + m / 2];
      change += d * d;
    }
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        u[i * m + j] = v[i * m + j];
    if (++steps % 7 == 0)
      look(u + m, m, steps);
    if (steps % 5 == 0)
      u[m + 1] += 0.125; // the host's turn
  } while (change > eps && steps < 60);
  return steps;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 30), m = (int)example_arg(argc, argv, 2, 22);
  size_t count = (size_t)n * m;
  double *u = example_array(count + 1), *v = example_array(count + 1);
  example_fill(u, count);
  for (size_t i = 0; i < count; ++i)
    v[i] = u[i];
  int steps = relax(n, m, u, v, 1e-3);
  printf("%d\n", steps);
  example_print("u", u, count);
  example_print("v", v, count);
  return 0;
}
