// Over-relaxation over red and black cells, a time loop and a loop over colours around: too much for the stages as one nest, so the sweeps
// are offloaded; then the largest residual. Game of life with borders that are copied, both grids in one array.
// ARGS: 33 5
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 40 2
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static double relax(int n, double *u, const double *f, double omega, int steps) {
  double worst = 0;
  int w = n + 2;
  for (int t = 0; t < steps; ++t)
    for (int c = 0; c < 2; ++c)
      for (int i = 1; i <= n; ++i)
        for (int j = 1 + (i + c) % 2; j <= n; j += 2) {
          double r = 0.25 * (u[(i - 1) * w + j] + u[(i + 1) * w + j] + u[i * w + j - 1] + u[i * w + j + 1] - f[i * w + j]) - u[i * w + j];
          u[i * w + j] += omega * r;
        }
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= n; ++j) {
      double r = u[(i - 1) * w + j] + u[(i + 1) * w + j] + u[i * w + j - 1] + u[i * w + j + 1] - 4.0 * u[i * w + j] - f[i * w + j];
      if (r < 0)
        r = -r;
      if (r > worst)
        worst = r;
    }
  return worst;
}

enum { ROWS = 48, COLUMNS = 40 };
static int grid[2][ROWS + 2][COLUMNS + 2];

__attribute__((noinline)) static int live(int steps) {
  int now = 0;
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < ROWS + 2; ++i) {
      grid[now][i][0] = grid[now][i][COLUMNS];
      grid[now][i][COLUMNS + 1] = grid[now][i][1];
    }
    for (int j = 0; j < COLUMNS + 2; ++j) {
      grid[now][0][j] = grid[now][ROWS][j];
      grid[now][ROWS + 1][j] = grid[now][1][j];
    }
    for (int i = 1; i <= ROWS; ++i)
      for (int j = 1; j <= COLUMNS; ++j) {
        int count = 0;
        for (int a = -1; a <= 1; ++a)
          for (int b = -1; b <= 1; ++b)
            if (a || b)
              count += grid[now][i + a][j + b];
        grid[1 - now][i][j] = count == 3 || (count == 2 && grid[now][i][j]);
      }
    now = 1 - now;
  }
  return now;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), steps = (int)example_arg(argc, argv, 2, 5);
  size_t count = (size_t)(n + 2) * (n + 2);
  double *u = example_array(count), *f = example_array(count);
  example_fill(u, count);
  example_fill(f, count);
  double worst = relax(n, u, f, 1.3, steps);
  example_print("u", u, count);
  example_print("worst", &worst, 1);
  for (int i = 1; i <= ROWS; ++i)
    for (int j = 1; j <= COLUMNS; ++j)
      grid[0][i][j] = example_uniform() > 0.2;
  int now = live(steps);
  unsigned long sum = 0;
  for (int i = 1; i <= ROWS; ++i)
    for (int j = 1; j <= COLUMNS; ++j)
      sum = sum * 3 + (unsigned long)grid[now][i][j];
  printf("live %lx\n", sum);
  return 0;
}
