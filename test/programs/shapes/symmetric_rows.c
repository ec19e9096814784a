// Symmetric and triangular matrices behind tables of pointers: loops over rows from the diagonal on, and up to it, whose last entry of the table is the same in all of them.
//
// ARGS: 40 7
// ARGS: 33 1
// ARGS: 2 3
// ARGS: 1 1
// ARGS: 0 1
// OFFLOAD: partial
// KERNELS: mirrored covariance lower
#include "example.h"

#define KEEP __attribute__((noinline)) static

KEEP void mirrored(int n, TYPE **a) {
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++)
      a[j][i] = a[i][j];
}

KEEP void covariance(int n, int m, TYPE **x, TYPE **c) {
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) {
      c[i][j] = 0;
      for (int k = 0; k < m; k++)
        c[i][j] += x[k][i] * x[k][j];
      c[i][j] /= m;
      c[j][i] = c[i][j];
    }
}

KEEP void strict(long n, TYPE **a, TYPE **b) {
  for (long i = 0; i < n; i++)
    for (long j = i + 1; j < n; j++)
      a[j][i] += 2 * b[i][j];
}

KEEP void lower(int n, TYPE **a, TYPE **b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      a[j][i] = b[i][j] + j;
}

// From the last row to the diagonal: not found.
KEEP void banded(int n, TYPE **a, TYPE **b) {
  for (int i = 0; i < n; i++)
    for (int j = n - 1; j >= i; j--)
      a[j][i] -= b[i][j];
}

static TYPE **table(int n, int m, TYPE *data) {
  TYPE **rows = malloc((n + 1) * sizeof *rows);
  for (int i = 0; i < n; i++)
    rows[i] = data ? data + (size_t)i * m : example_array(m);
  return rows;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 40), m = (int)example_arg(argc, argv, 2, 7);
  size_t all = (size_t)n * n;
  TYPE *a = example_array(all), *b = example_array(all), *x = example_array((size_t)m * n);
  example_fill(a, all);
  example_fill(b, all);
  example_fill(x, (size_t)m * n);
  TYPE **rows = table(n, n, a), **others = table(n, n, b), **samples = table(m, n, x), **apart = table(n, n, NULL);
  for (int i = 0; i < n; i++)
    example_fill(apart[i], n);
  mirrored(n, rows);
  example_print("a", a, all);
  covariance(n, m, samples, rows);
  example_print("a", a, all);
  strict(n, rows, others);
  lower(n, others, rows);
  example_print("b", b, all);
  banded(n, rows, others);
  example_print("a", a, all);
  // Rows that lie anywhere, and two tables of the same rows.
  mirrored(n, apart);
  strict(n, apart, rows);
  strict(n, rows, rows);
  example_print("a", a, all);
  for (int i = 0; i < n; i++) {
    example_print("row", apart[i], n);
    free(apart[i]);
  }
  free(rows), free(others), free(samples), free(apart);
  free(a), free(b), free(x);
  return 0;
}
