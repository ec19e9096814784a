// Many fields: a step of six coupled ones and their copies, twelve statements; in two dimensions warps alone compute steps of so many.
// ARGS: 0 9 9
// ARGS: 1 40 40
// ARGS: 9 3 70
// ARGS: 20 45 45
// ARGS: 7 130 33
// OFFLOAD: yes
// TURNS: 3
// KERNELS: six levels
#include "example.h"

__attribute__((noinline)) static void six(int steps, int m, int n, float (*restrict a)[m][n], float (*restrict b)[m][n]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < m - 1; ++i)
      for (int j = 1; j < n - 1; ++j) {
        b[0][i][j] = a[0][i][j] + 0.1f * (a[1][i - 1][j] - a[1][i + 1][j]);
        b[1][i][j] = a[1][i][j] + 0.1f * (a[2][i][j - 1] - a[2][i][j + 1]);
        b[2][i][j] = a[2][i][j] + 0.1f * (a[3][i - 1][j] - a[3][i + 1][j]);
        b[3][i][j] = a[3][i][j] + 0.1f * (a[4][i][j - 1] - a[4][i][j + 1]);
        b[4][i][j] = a[4][i][j] + 0.1f * (a[5][i - 1][j] - a[5][i][j]);
        b[5][i][j] = a[5][i][j] + 0.1f * (a[0][i][j - 1] - a[0][i][j + 1]);
      }
    for (int i = 1; i < m - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        for (int k = 0; k < 6; ++k)
          a[k][i][j] = b[k][i][j];
  }
}

/* Two time levels in one array. */
__attribute__((noinline)) static void levels(int steps, int m, int n, double f[2][7][m][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < m - 1; ++i)
      for (int j = 1; j < n - 1; ++j) {
        double sum = f[t % 2][0][i][j] + f[t % 2][1][i][j - 1] + f[t % 2][2][i - 1][j] + f[t % 2][3][i][j + 1] + f[t % 2][4][i + 1][j] +
                     f[t % 2][5][i - 1][j - 1] + f[t % 2][6][i + 1][j + 1];
        f[(t + 1) % 2][0][i][j] = 0.8 * f[t % 2][0][i][j] + 0.02 * sum;
        f[(t + 1) % 2][1][i][j] = 0.7 * f[t % 2][1][i][j - 1] + 0.03 * sum;
        f[(t + 1) % 2][2][i][j] = 0.6 * f[t % 2][2][i - 1][j] + 0.04 * sum;
        f[(t + 1) % 2][3][i][j] = 0.7 * f[t % 2][3][i][j + 1] + 0.03 * sum;
        f[(t + 1) % 2][4][i][j] = 0.6 * f[t % 2][4][i + 1][j] + 0.05 * sum;
        f[(t + 1) % 2][5][i][j] = 0.5 * f[t % 2][5][i - 1][j - 1] + 0.06 * sum;
        f[(t + 1) % 2][6][i][j] = 0.4 * f[t % 2][6][i + 1][j + 1] + 0.07 * sum;
      }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 9), m = (int)example_arg(argc, argv, 2, 45), n = (int)example_arg(argc, argv, 3, 45);
  size_t plane = (size_t)m * n;
  float *a = malloc(6 * plane * sizeof(float)), *b = calloc(6 * plane, sizeof(float));
  double *f = malloc(14 * plane * sizeof(double));
  for (size_t i = 0; i < 6 * plane; ++i)
    a[i] = (float)example_uniform();
  for (size_t i = 0; i < 14 * plane; ++i)
    f[i] = example_uniform();
  six(steps, m, n, (void *)a, (void *)b);
  levels(steps, m, n, (void *)f);
  printf("%016llx %016llx %016llx\n", (unsigned long long)example_hash(a, 6 * plane * sizeof(float)),
         (unsigned long long)example_hash(b, 6 * plane * sizeof(float)), (unsigned long long)example_hash(f, 14 * plane * sizeof(double)));
  return 0;
}
