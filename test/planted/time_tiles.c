// A stencil in hexagons: values pass from step to step of a tile, from phase to phase, and from tile to tile along both dimensions.
#include "planted.h"

#define M 40
#define N 90

static void heat(int steps, int m, int n, double A[2][m][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < m - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[(t + 1) % 2][i][j] = 0.23 * A[t % 2][i][j] + 0.19 * (A[t % 2][i - 1][j] + A[t % 2][i + 1][j]) +
                               0.21 * A[t % 2][i][j - 1] + 0.18 * A[t % 2][i][j + 1];
}

int main(void) {
  double *a = matrix(2 * M * N, 1);
  heat(23, M, N, (void *)a);
  show(a, 2 * M * N);
  return 0;
}
