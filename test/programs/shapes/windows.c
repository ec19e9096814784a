// Parts of a matrix and of a cube: columns, blocks of columns, boxes, triangles. What lies between their rows is not touched.
// ARGS: 33 17 5 9
// ARGS: 0 0 0 0
// ARGS: 1 1 0 1
// ARGS: 64 40 39 40
// ARGS: 31 65 0 65
// ARGS: 300 200 3 7
// OFFLOAD: yes
#include "example.h"

#define KERNEL __attribute__((noinline)) static void

KERNEL gather(int n, int m, int k, double x[n], double A[n][m]) {
  for (int i = 0; i < n; ++i)
    x[i] = A[i][k] + 1;
}

KERNEL scale(int n, int m, int k, double A[n][m], const double x[n]) {
  for (int i = 0; i < n; ++i)
    A[i][k] *= 1 + 0.1 * x[i];
}

KERNEL fill(int n, int m, int j0, int j1, double A[n][m], const double x[n]) {
  for (int i = 1; i < n; ++i)
    for (int j = j0; j < j1; ++j)
      A[i][j] = x[i] - 0.5 * x[i - 1] + j;
}

KERNEL product(int n, int m, int j0, int j1, double C[n][m], double A[n][m], double B[m][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = j0; j < j1; ++j)
      for (int k = j0; k < j1; ++k)
        C[i][j] += A[i][k] * B[k][j];
}

KERNEL triangle(int n, int m, int j0, int j1, double A[n][m], double B[n][m]) {
  for (int i = 0; i < j1 - j0 && i < n; ++i)
    for (int j = 0; j <= i; ++j)
      A[i][j0 + j] += B[i][j0 + i - j];
}

/* Elements of every other row, in a box of a cube. */
KERNEL box(int n, int m, int j0, int j1, double D[n][4][m], double E[n][4][m]) {
  for (int i = 0; i < n / 2; ++i)
    for (int k = 1; k < 3; ++k)
      for (int j = j0; j < j1; ++j)
        D[2 * i][k][j] = 0.25 * (E[2 * i][k - 1][j] + E[2 * i][k + 1][j]) + D[2 * i][k][j];
}

/* The first column decides about the others. */
KERNEL first_of(int n, int m, int j0, int j1, double A[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = j0 + 1; j < j1; ++j)
      if (A[i][j0] > 0.4)
        A[i][j] = A[i][j] - A[i][j0];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  int j0 = (int)example_arg(argc, argv, 3, 5), j1 = (int)example_arg(argc, argv, 4, 9);
  size_t count = (size_t)n * m;
  double *A = example_array(count), *B = example_array(count), *C = example_array(count);
  double *S = example_array((size_t)m * m), *x = example_array(n), *D = example_array(4 * count), *E = example_array(4 * count);
  double *all[] = {A, B, C, S, x, D, E};
  size_t counts[] = {count, count, count, (size_t)m * m, n, 4 * count, 4 * count};
  for (int i = 0; i < 7; ++i)
    example_fill(all[i], counts[i]);
  if (count && j0 < m && j1 <= m)
    for (int round = 0; round < 3; ++round) {
      gather(n, m, j0, x, (void *)A);
      scale(n, m, j1 - 1, (void *)A, x);
      fill(n, m, j0, j1, (void *)B, x);
      product(n, m, j0, j1, (void *)C, (void *)A, (void *)S);
      triangle(n, m, j0, j1, (void *)A, (void *)C);
      box(n, m, j0, j1, (void *)D, (void *)E);
      first_of(n, m, j0, j1, (void *)C);
      /* Other parts of the same arrays, by the host. */
      A[count / 2] += 1;
      D[count / 3] -= 1;
    }
  for (int i = 0; i < 7; ++i)
    example_print((char[]){'A' + i, 0}, all[i], counts[i]);
  for (int i = 0; i < 7; ++i)
    free(all[i]);
  return 0;
}
