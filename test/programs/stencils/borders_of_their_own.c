// Fused steps on two grids that change places, with loops of their own for one border: what lies between the boxes of a grid's loops is written with the values that it has, and the program's other
// borders stay what they were, on either grid.
// ARGS: 33 31 5
// ARGS: 0 3 2
// ARGS: 40 20 3
// ARGS: 7 9 2
// ARGS: 3 3 1
// OFFLOAD: yes
// KERNELS: row column both last_row first_column
#define TYPE unsigned
#include "example.h"

#define NOINLINE __attribute__((noinline)) static

/* The first row has a loop of its own; the last row and both columns keep what either grid has there. */
NOINLINE void row(int n, int m, int times, unsigned *restrict p, unsigned *restrict q) {
  for (int t = 0; t < times; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        q[i * m + j] = p[i * m + j] + p[(i - 1) * m + j] + p[i * m + j + 1];
    for (int j = 0; j < m; j++)
      q[j] = p[j] + 1;
    unsigned *other = p;
    p = q;
    q = other;
  }
}

/* The first column, of which the loop takes the second one's values. */
NOINLINE void column(int n, int m, int times, unsigned *restrict p, unsigned *restrict q) {
  for (int t = 0; t < times; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        q[i * m + j] = p[(i - 1) * m + j] + p[(i + 1) * m + j];
    for (int i = 0; i < n; i++)
      q[i * m] = p[i * m + 1];
    unsigned *other = p;
    p = q;
    q = other;
  }
}

/* Two borders, one of which has a source; the steps are as many as a size says. */
NOINLINE void both(int n, int m, unsigned *restrict p, unsigned *restrict q, const unsigned *restrict source) {
  for (int t = 0; t < (n & 7); t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        q[i * m + j] = p[i * m + j] + p[(i - 1) * m + j] + p[i * m + j - 1];
    for (int j = 0; j < m; j++)
      q[j] = p[j] + source[j];
    for (int i = 1; i < n - 1; i++)
      q[i * m + m - 1] = p[i * m + m - 2];
    unsigned *other = p;
    p = q;
    q = other;
  }
}

/* The last row of one grid: what is touched ends in the middle of the hull's last row, and steps are not fused. */
NOINLINE void last_row(int n, int m, int times, unsigned *restrict u, unsigned *restrict w) {
  for (int t = 0; t < times; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        w[i * m + j] = u[(i - 1) * m + j] + u[(i + 1) * m + j] + u[i * m + j - 1] + u[i * m + j + 1];
    for (int j = 0; j < m; j++)
      w[(n - 1) * m + j] = 0;
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        u[i * m + j] = w[i * m + j];
    for (int j = 0; j < m; j++)
      u[(n - 1) * m + j] = 0;
  }
}

/* The first column over all rows: its last element is the last one that is touched. */
NOINLINE void first_column(int n, int m, int times, unsigned *restrict u, unsigned *restrict w) {
  for (int t = 0; t < times; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        w[i * m + j] = u[i * m + j] + u[i * m + j - 1];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        u[i * m + j] = w[i * m + j];
    for (int i = 0; i < n; i++)
      u[i * m] = u[i * m + 1];
  }
}

int main(int argc, char **argv) {
  int n = example_arg(argc, argv, 1, 33), m = example_arg(argc, argv, 2, 31), times = example_arg(argc, argv, 3, 5);
  unsigned *p = example_array(n * m), *q = example_array(n * m), *source = example_array(m);
  for (int i = 0; i < n * m; i++) {
    p[i] = i * 7u + 1;
    q[i] = i * i + 3u;
  }
  for (int i = 0; i < m; i++)
    source[i] = i ^ 5u;
  row(n, m, times, p, q);
  column(n, m, times, p, q);
  both(n, m, p, q, source);
  if (n > 0)
    last_row(n, m, times, p, q);
  first_column(n, m, times, p, q);
  unsigned sum = 0;
  for (int i = 0; i < n * m; i++)
    sum = (sum * 31 + p[i]) * 37 + q[i];
  printf("%u\n", sum);
  free(p);
  free(q);
  free(source);
}
