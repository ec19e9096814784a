// Matrices as tables of rows that are allocated in turn, a row of each: all rows of one are equally far apart, and the matrices lie in each other. Beside them a matrix in one
// block, of which loops access columns that become fewer, and single ones.
// ARGS: 1 5
// ARGS: 2 40
// ARGS: 20 30
// ARGS: 65 64
// ARGS: 100 300
// OFFLOAD: yes
// KERNELS: product lower column
#include "example.h"
#include <stdlib.h>

__attribute__((noinline)) static void product(int n, int m, TYPE **c, TYPE **a, TYPE **b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      c[i][j] = 0;
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
    }
}

__attribute__((noinline)) static void lower(int n, int m, TYPE **l, TYPE **u, TYPE **a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      u[i][j] = j < i ? 0 : a[i][j];
      l[i][j] = j < i ? a[i][j] : (TYPE)(i == j);
    }
}

__attribute__((noinline)) static void sums(int n, int m, TYPE **c, TYPE **l, TYPE **u) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      c[i][j] = l[i][j] * 2 + u[i][j];
}

__attribute__((noinline)) static void eliminate(int n, int m, int k, TYPE **a) {
  for (int i = k + 1; i < n; i++)
    for (int j = k + 1; j < m; j++)
      a[i][j] -= a[i][k] * a[k][j];
}

__attribute__((noinline)) static void column(int n, int k, TYPE **a, TYPE *v) {
  for (int i = 0; i < n; i++)
    v[i] = a[i][k] + 1;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 20), m = (int)example_arg(argc, argv, 2, 30);
  int columns = n > m ? n : m;
  TYPE *block = example_array((size_t)n * (size_t)columns), *v = example_array((size_t)n);
  TYPE *t[5][n];
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++) {
      t[k][i] = malloc((size_t)columns * sizeof(TYPE));
      example_fill(t[k][i], (size_t)columns);
      t[k][i][0] += k + i;
    }
  example_fill(block, (size_t)n * (size_t)columns);
  for (int i = 0; i < n; i++)
    t[4][i] = block + i * columns;
  product(n, m, t[0], t[1], t[2]);
  lower(n, m, t[2], t[3], t[0]);
  sums(n, m, t[1], t[2], t[3]);
  for (int k = 0; k < n && k < m; k += 1 + n / 10) {
    eliminate(n, m, k, t[4]);
    column(n, k, t[4], v);
  }
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < n; i++) {
      example_print("row", t[k][i], (size_t)columns);
      free(t[k][i]);
    }
  example_print("block", block, (size_t)n * (size_t)columns);
  example_print("column", v, (size_t)n);
}
