// Many small systems at once: factorisations, solves and rotations of each, whose loops a block runs by itself; few large ones are launched step by step.
//
// ARGS: 40 9
// ARGS: 1 5
// ARGS: 17 34
// ARGS: 33 1
// ARGS: 2 70
// OFFLOAD: yes
// KERNELS: factor cholesky lower upper jordan band rotate inverse
#include "example.h"

#define KEEP __attribute__((noinline)) static

// LU without pivoting.
KEEP void factor(int m, int n, TYPE a[m][n][n]) {
  for (int b = 0; b < m; b++)
    for (int k = 0; k < n; k++) {
      for (int i = k + 1; i < n; i++)
        a[b][i][k] /= a[b][k][k];
      for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j < n; j++)
          a[b][i][j] -= a[b][i][k] * a[b][k][j];
    }
}

// Cholesky without roots: L D L^T, in the lower triangle.
KEEP void cholesky(int m, int n, TYPE a[m][n][n]) {
  for (int b = 0; b < m; b++)
    for (int k = 0; k < n; k++) {
      for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j <= i; j++)
          a[b][i][j] -= a[b][i][k] * a[b][j][k] / a[b][k][k];
      for (int i = k + 1; i < n; i++)
        a[b][i][k] /= a[b][k][k];
    }
}

// L x = y by columns, with several right-hand sides.
KEEP void lower(int m, int n, TYPE a[m][n][n], TYPE x[m][n][3]) {
  for (int b = 0; b < m; b++)
    for (int k = 0; k < n; k++) {
      for (int r = 0; r < 3; r++)
        x[b][k][r] /= a[b][k][k];
      for (int i = k + 1; i < n; i++)
        for (int r = 0; r < 3; r++)
          x[b][i][r] -= a[b][i][k] * x[b][k][r];
    }
}

// U x = y by columns, from the last row.
KEEP void upper(int m, int n, TYPE a[m][n][n], TYPE x[m][n]) {
  for (int b = 0; b < m; b++)
    for (int k = n - 1; k >= 0; k--) {
      x[b][k] /= a[b][k][k];
      for (int i = 0; i < k; i++)
        x[b][i] -= a[b][i][k] * x[b][k];
    }
}

// Gauss-Jordan on systems of constant size.
KEEP void jordan(int m, TYPE a[m][12][13]) {
  for (int b = 0; b < m; b++)
    for (int k = 0; k < 12; k++) {
      for (int j = k + 1; j < 13; j++)
        a[b][k][j] /= a[b][k][k];
      for (int i = 0; i < 12; i++)
        if (i != k)
          for (int j = k + 1; j < 13; j++)
            a[b][i][j] -= a[b][i][k] * a[b][k][j];
    }
}

// LU of matrices of which three diagonals on each side are not zero, row i from column i - 3.
KEEP void band(int m, int n, TYPE a[m][n][7]) {
  for (int b = 0; b < m; b++)
    for (int k = 0; k < n - 3; k++) {
      for (int i = 1; i <= 3; i++)
        a[b][k + i][3 - i] /= a[b][k][3];
      for (int i = 1; i <= 3; i++)
        for (int j = 1; j <= 3; j++)
          a[b][k + i][3 - i + j] -= a[b][k + i][3 - i] * a[b][k][3 + j];
    }
}

// Each row turned against the one above, by angles that are given.
KEEP void rotate(int m, int n, TYPE a[m][n][n], TYPE c[m][n], TYPE s[m][n]) {
  for (int b = 0; b < m; b++)
    for (int i = 1; i < n; i++)
      for (int j = 0; j < n; j++) {
        TYPE up = a[b][i - 1][j], down = a[b][i][j];
        a[b][i - 1][j] = c[b][i] * up + s[b][i] * down;
        a[b][i][j] = c[b][i] * down - s[b][i] * up;
      }
}

// The inverse of lower triangles, in place of a second matrix.
KEEP void inverse(int m, int n, TYPE a[m][n][n], TYPE x[m][n][n]) {
  for (int b = 0; b < m; b++)
    for (int k = 0; k < n; k++) {
      for (int j = 0; j <= k; j++)
        x[b][k][j] = (j == k ? 1 : x[b][k][j]) / a[b][k][k];
      for (int i = k + 1; i < n; i++)
        for (int j = 0; j <= k; j++)
          x[b][i][j] -= a[b][i][k] * x[b][k][j];
    }
}

static TYPE *systems(int m, int n, int row) {
  size_t all = (size_t)m * n * row;
  TYPE *a = example_array(all);
  example_fill(a, all);
  return a;
}

int main(int argc, char **argv) {
  int m = argc > 1 ? atoi(argv[1]) : 40, n = argc > 2 ? atoi(argv[2]) : 9;
  TYPE *a = systems(m, n, n), *x = systems(m, n, 3), *y = systems(m, n, 1), *j = systems(m, 12, 13), *d = systems(m, n, 7);
  TYPE *c = systems(m, n, 1), *s = systems(m, n, 1), *z = systems(m, n, n);
  for (int b = 0; b < m; b++) {
    for (int i = 0; i < n; i++)
      a[((size_t)b * n + i) * n + i] += n;
    for (int i = 0; i < 12; i++)
      j[((size_t)b * 12 + i) * 13 + i] += 12;
    for (int i = 0; i < n; i++)
      d[((size_t)b * n + i) * 7 + 3] += 7;
  }
  factor(m, n, (void *)a);
  lower(m, n, (void *)a, (void *)x);
  upper(m, n, (void *)a, (void *)y);
  rotate(m, n, (void *)a, (void *)c, (void *)s);
  inverse(m, n, (void *)a, (void *)z);
  example_print("a", a, (size_t)m * n * n);
  for (int b = 0; b < m; b++)
    for (int i = 0; i < n; i++)
      a[((size_t)b * n + i) * n + i] += 3 * n;
  cholesky(m, n, (void *)a);
  jordan(m, (void *)j);
  band(m, n, (void *)d);
  example_print("a", a, (size_t)m * n * n);
  example_print("x", x, (size_t)m * n * 3);
  example_print("y", y, (size_t)m * n);
  example_print("z", z, (size_t)m * n * n);
  example_print("j", j, (size_t)m * 12 * 13);
  example_print("d", d, (size_t)m * n * 7);
  return 0;
}
