// Launches that several devices share: steps that exchange rows, a product with an operand that all read, and reversals.
#include "planted.h"

enum { N = 150, M = 37, L = 3000 };

static void steps(int t, double (*restrict a)[M], double (*restrict b)[M], const double *restrict f) {
  for (int k = 0; k < t; k++) {
    for (int i = 2; i < N - 2; i++)
      for (int j = 1; j < M - 1; j++)
        b[i][j] = 0.2 * a[i][j] + 0.3 * a[i - 2][j] + 0.1 * a[i + 2][j - 1] + 0.3 * a[i + 1][j + 1] + 0.01 * f[i];
    for (int i = 2; i < N - 2; i++)
      for (int j = 1; j < M - 1; j++)
        a[i][j] = 0.5 * b[i][j] + 0.4 * b[i + 1][j];
  }
}

static void reverse(int t, double *restrict f, double *restrict g) {
  for (int k = 0; k < t; k++) {
    for (int i = 0; i < L; i++)
      g[i] = 0.5 * f[L - 1 - i] + 0.25;
    for (int i = 0; i < L; i++)
      f[i] = 0.75 * g[L - 1 - i] + 0.125 * g[i];
  }
}

static void product(double (*restrict c)[N], double (*restrict d)[N], double (*restrict e)[N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        c[i][j] += d[i][k] * e[k][j];
}

int main(void) {
  double *a = matrix(N * M, 1), *b = matrix(N * M, 2), *f = matrix(L, 3), *g = matrix(L, 4);
  double *c = matrix(N * N, 5), *d = matrix(N * N, 6), *e = matrix(N * N, 7);
  steps(7, (void *)a, (void *)b, f);
  product((void *)c, (void *)d, (void *)e);
  product((void *)d, (void *)c, (void *)e);
  reverse(3, f, g);
  show(a, N * M);
  show(d, N * N);
  show(f, L);
  return 0;
}
