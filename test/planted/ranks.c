// Launches that ranks share: steps that exchange rows, and counts in a range of which the program has a part, between addresses that are each rank's own.
#include "planted.h"
#include <math.h>

enum { N = 90, M = 37 };

static void steps(int t, double (*restrict a)[M], double (*restrict b)[M]) {
  for (int k = 0; k < t; k++) {
    for (int i = 2; i < N - 2; i++)
      for (int j = 1; j < M - 1; j++)
        b[i][j] = 0.2 * a[i][j] + 0.3 * a[i - 2][j] + 0.1 * a[i + 2][j - 1] + 0.3 * a[i + 1][j + 1];
    for (int i = 2; i < N - 2; i++)
      for (int j = 1; j < M - 1; j++)
        a[i][j] = 0.5 * b[i][j] + 0.4 * b[i + 1][j];
  }
}

__attribute__((noinline)) static void count(double (*restrict a)[M], int *restrict h) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      h[(int)(fabs(a[i][j]) * 30) % 16]++;
}

int main(void) {
  double *a = matrix(N * M, 1), *b = matrix(N * M, 2), sums[16];
  // Addresses before and behind the counts.
  struct { void *before[8]; int h[16]; void *behind[8]; } all = {{0}};
  for (int k = 0; k < 8; k++)
    all.before[k] = a + k, all.behind[k] = b + k;
  steps(5, (void *)a, (void *)b);
  count((void *)a, all.h);
  for (int k = 0; k < 16; k++)
    sums[k] = all.h[k] + ((double *)all.before[k % 8])[0] + ((double *)all.behind[k % 8])[0];
  show(a, N * M);
  show(sums, 16);
  return 0;
}
