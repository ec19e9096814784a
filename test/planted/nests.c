// Loop nests whose dependences a wrong schedule, mapping or copy would break.
#include "planted.h"

#define N 75

// A row needs the row before it.
static void rows(int n, double A[n][n]) {
  for (int i = 1; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = 0.5 * A[i - 1][j] + A[i][j];
}

// Reads what a later iteration overwrites.
static void shifted(int n, double A[n][n], double B[n][n]) {
  for (int i = 0; i < n - 1; i++)
    for (int j = 0; j < n - 1; j++)
      A[i][j] = A[i + 1][j + 1] * 0.9 + B[i][j];
}

// Two nests, the second of which needs the first.
static void two(int n, double A[n][n], double B[n][n], double C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      B[i][j] = A[j][i] + 1.25;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      C[i][j] = B[j][i] * B[i][n - 1 - j];
}

// A scalar that lives across nests.
static double scalar(int n, double A[n][n], double *x) {
  double s = 0.5;
  for (int k = 1; k < n; k++) {
    s = s * 0.75 + x[k];
    for (int i = 0; i < n; i++)
      A[k][i] = A[k - 1][i] * s;
  }
  return s;
}

int main(void) {
  double *a = matrix(N * N, 1), *b = matrix(N * N, 2), *c = matrix(N * N, 3), *x = matrix(N, 4);
  rows(N, (void *)a);
  shifted(N, (void *)a, (void *)b);
  two(N, (void *)a, (void *)b, (void *)c);
  double s = scalar(N, (void *)a, x);
  show(a, N * N);
  show(b, N * N);
  show(c, N * N);
  show(&s, 1);
  return 0;
}
