// Sums over rows of a sparse matrix, which a team of threads shares; the last row ends where its arrays end, in the middle of a round.
#include "planted.h"

#define N 41

static void rows(int n, const int *restrict ptr, const int *restrict col, const double *restrict val, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = ptr[i]; k < ptr[i + 1]; k++)
      s += val[k] * x[col[k]];
    y[i] = s;
  }
}

int main(void) {
  int ptr[N + 1] = {0};
  for (volatile int i = 0; i < N; i++)
    ptr[i + 1] = ptr[i] + 5 + i % 9;
  int *col = malloc(sizeof *col * (size_t)ptr[N]);
  double *val = matrix(ptr[N], 1), *x = matrix(N, 1), *y = matrix(N, 1);
  for (volatile int k = 0; k < ptr[N]; k++)
    col[k] = k * 7 % N;
  rows(N, ptr, col, val, x, y);
  show(y, N);
}
