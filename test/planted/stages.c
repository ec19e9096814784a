// A product of doubles as operations of warps, whose operands come by copies that no thread waits for; every other row begins in the
// middle of the 16 bytes of a copy.
#include "planted.h"

#define N 531
#define K 91

static void product(int n, int m, double A[n][m], double B[m][n], double C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < m; k++)
        C[i][j] = __builtin_fma(A[i][k], B[k][j], C[i][j]);
}

int main(void) {
  double *a = matrix(N * K, 1), *b = matrix(K * N, 2), *c = matrix(N * N, 3);
  product(N, K, (void *)a, (void *)b, (void *)c);
  show(c, N * N);
  return 0;
}
