// Fused steps whose launches several devices share by bands of rows.
#include "planted.h"

#define M 70
#define N 300

static void heat(int steps, int m, int n, float A[2][m][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 2; i < m - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[(t + 1) % 2][i][j] = 0.23f * A[t % 2][i][j] + 0.19f * (A[t % 2][i - 1][j] + A[t % 2][i - 2][j + 1]) +
                               0.21f * A[t % 2][i][j - 1] + 0.18f * A[t % 2][i + 1][j + 1];
}

int main(void) {
  double *d = matrix(2 * M * N, 1);
  float *a = malloc(2 * M * N * sizeof *a);
  for (volatile int i = 0; i < 2 * M * N; i++)
    a[i] = (float)d[i];
  heat(25, M, N, (void *)a);
  for (volatile int i = 0; i < 2 * M * N; i++)
    d[i] = a[i];
  show(d, 2 * M * N);
  return 0;
}
