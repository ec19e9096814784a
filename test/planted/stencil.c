// A stencil whose time steps are fused.
#include "planted.h"

#define M 50
#define N 1100
#define L (46 * 36 * 140)

static void heat(int steps, int m, int n, float A[2][m][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 2; i < m; i++)
      for (int j = 1; j < n - 1; j++)
        A[(t + 1) % 2][i][j] = 0.23f * A[t % 2][i][j] + 0.19f * (A[t % 2][i - 1][j] + A[t % 2][i - 2][j + 1]) +
                               0.21f * A[t % 2][i][j - 1] + 0.18f * A[t % 2][i][j + 1];
}

/* In one dimension blocks are warps. */
static void line(int steps, int n, float A[2][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      A[(t + 1) % 2][i] = 0.3f * A[t % 2][i - 1] + 0.4f * A[t % 2][i] + 0.29f * A[t % 2][i + 1];
}

/* Deep enough for a loop of its own at the start of a block. */
static void heat3(int steps, int n, int m, int o, float A[2][n][m][o]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        for (int k = 1; k < o - 1; k++)
          A[(t + 1) % 2][i][j][k] = 0.22f * A[t % 2][i][j][k] + 0.12f * (A[t % 2][i - 1][j][k] + A[t % 2][i + 1][j][k] + A[t % 2][i][j - 1][k]) +
                                    0.13f * (A[t % 2][i][j + 1][k] + A[t % 2][i][j][k - 1] + A[t % 2][i][j][k + 1]);
}

/* A last row of its own: the hull begins before the first element that is touched of w. */
static void bordered(int steps, int n, int m, float *restrict u, float *restrict w) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        w[i * m + j] = 0.27f * u[(i - 1) * m + j] + 0.23f * u[(i + 1) * m + j] + 0.22f * u[i * m + j - 1] + 0.26f * u[i * m + j + 1];
    for (int j = 0; j < m; j++)
      w[(n - 1) * m + j] = u[(n - 1) * m + j];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        u[i * m + j] = w[i * m + j];
    for (int j = 0; j < m; j++)
      u[(n - 1) * m + j] = 0.9f * w[(n - 1) * m + j];
  }
}

int main(void) {
  double *d = matrix(2 * L, 1);
  float *a = malloc(2 * L * sizeof *a);
  for (int i = 0; i < 2 * L; i++)
    a[i] = (float)d[i];
  heat(25, M, N, (void *)a);
  for (int i = 0; i < 2 * M * N; i++)
    d[i] = a[i];
  line(40, 3000, (void *)a);
  for (int i = 0; i < 2 * 3000; i++)
    d[i] += a[i];
  heat3(10, 46, 36, 140, (void *)a);
  for (int i = 0; i < 2 * L; i++)
    d[i] += a[i];
  bordered(6, 40, 150, a, a + L);
  for (int i = 0; i < 2 * L; i++)
    d[i] += a[i];
  show(d, 2 * L);
  return 0;
}
