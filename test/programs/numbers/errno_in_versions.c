// Functions that may set errno in loops that get versions: each copy of a call, in tables of rows that are equally far apart and others, is
// the call on the host again.
// ARGS: 12 7
// ARGS: 1 1
// ARGS: 9 9 1
// OFFLOAD: yes
#include "example.h"
#include <errno.h>
#include <math.h>

/* Modified Gram and Schmidt, by tables of rows. */
__attribute__((noinline)) static void orthogonalise(int m, int n, TYPE **c, TYPE **r, TYPE **q) {
  for (int k = 0; k < n; k++) {
    TYPE sum = 0;
    for (int j = 0; j < m; j++)
      sum += c[j][k] * c[j][k];
    r[k][k] = sqrt(sum - (TYPE)(k == 3));
    for (int j = 0; j < m; j++)
      q[j][k] = r[k][k] > 0 ? c[j][k] / r[k][k] : 0;
    for (int j = k + 1; j < n; j++) {
      r[k][j] = 0;
      for (int i = 0; i < m; i++)
        r[k][j] = r[k][j] + q[i][k] * c[i][j];
      for (int i = 0; i < m; i++)
        c[i][j] = c[i][j] - q[i][k] * r[k][j];
    }
  }
}

/* Roots and logarithms of all elements, by tables of rows. */
__attribute__((noinline)) static void transform(int m, int n, TYPE **a, TYPE **b) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = sqrt(b[i][j] + 3) + log(b[i][j] + 4);
}

static TYPE **table(int m, int n, int apart) {
  TYPE **rows = malloc(sizeof(TYPE *) * (m + 1));
  if (apart)
    for (int i = 0; i < m; i++)
      rows[i] = example_array((size_t)n + i % 3);
  else {
    TYPE *all = example_array((size_t)m * n);
    for (int i = 0; i < m; i++)
      rows[i] = all + (size_t)i * n;
  }
  for (int i = 0; i < m; i++)
    example_fill(rows[i], n);
  return rows;
}

int main(int argc, char **argv) {
  int m = (int)example_arg(argc, argv, 1, 12), n = (int)example_arg(argc, argv, 2, 7), apart = (int)example_arg(argc, argv, 3, 0);
  TYPE **c = table(m, n, apart), **r = table(n, n, apart), **q = table(m, n, apart);
  errno = 0;
  orthogonalise(m, n, c, r, q);
  printf("%d\n", errno);
  for (int i = 0; i < m; i++)
    example_print("q", q[i], n);
  for (int i = 0; i < n; i++)
    example_print("r", r[i], n);
  errno = 0;
  transform(m, n, c, q);
  printf("%d\n", errno);
  for (int i = 0; i < m; i++)
    example_print("c", c[i], n);
}
