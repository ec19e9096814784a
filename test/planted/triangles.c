// A product with a second one in some of its iterations: by conditions, of which strips need none, one or both.
#include "planted.h"

// Enough for a tile on each multiprocessor: plain kernels run below.
#define N 1100
#define K 21

static void product(int n, int m, double A[n][m], double B[m][n], double D[m][n], double C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < m; k++) {
        if (k <= i)
          C[i][j] += A[i][k] * B[k][j];
        if (k + 170 <= i)
          C[i][j] += A[i][k] * D[k][j];
      }
}

int main(void) {
  double *a = matrix(N * K, 1), *b = matrix(K * N, 2), *c = matrix(N * N, 3), *d = matrix(K * N, 4);
  product(N, K, (void *)a, (void *)b, (void *)d, (void *)c);
  show(c, N * N);
  return 0;
}
