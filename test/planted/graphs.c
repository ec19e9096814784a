// A factorisation whose tiles are tasks that wait for each other.
#include "planted.h"

#define N 150

static void factor(int n, double A[n][n]) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
      A[i][k] /= A[k][k] + 3;
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        A[i][j] -= A[i][k] * A[k][j];
  }
}

int main(void) {
  double *a = matrix(N * N, 1);
  factor(N, (void *)a);
  show(a, N * N);
  return 0;
}
