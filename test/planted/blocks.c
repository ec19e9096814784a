// Factorisations of many matrices, each by a block that runs its loops.
#include "planted.h"

#define M 20
#define N 21

static void factor(int m, int n, double A[m][n][n]) {
  for (int b = 0; b < m; b++)
    for (int k = 0; k < n; k++) {
      for (int i = k + 1; i < n; i++)
        A[b][i][k] /= A[b][k][k];
      for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j < n; j++)
          A[b][i][j] -= A[b][i][k] * A[b][k][j];
    }
}

int main(void) {
  double *a = matrix(M * N * N, 1);
  factor(M, N, (void *)a);
  show(a, M * N * N);
  return 0;
}
