// Loops of which none is parallel, in tiles: a launch for each diagonal of tiles. Values pass between the steps of a tile in shared memory, what comes
// from outside is a rim where the tile overwrites nothing that it reads.
//
// ARGS: 2 1 1
// ARGS: 0 0 0
// ARGS: 70 131 3
// ARGS: 64 64 2
// ARGS: 129 65 4
// ARGS: 1 200 1
// OFFLOAD: yes
// KERNELS: table subsequence where_less affine_gaps relax upwards two_in_turn iterated gauss box_of_nine border_first
#include "example.h"

#define KEEP __attribute__((noinline)) static
#define MAX(a, b) ((a) > (b) ? (a) : (b))

KEEP void table(int n, int m, TYPE a[n + 1][m + 1]) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++)
      a[i][j] += a[i - 1][j] + a[i][j - 1] - a[i - 1][j - 1];
}

// The loads are under a condition on data.
KEEP void subsequence(int n, int m, const int *restrict x, const int *restrict y, int c[restrict n + 1][m + 1]) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++)
      if (x[i - 1] == y[j - 1])
        c[i][j] = c[i - 1][j - 1] + 1;
      else
        c[i][j] = c[i - 1][j] > c[i][j - 1] ? c[i - 1][j] : c[i][j - 1];
}

// What may not be written is brought in.
KEEP void where_less(int n, int m, const int *restrict x, const int *restrict y, int c[restrict n + 1][m + 1]) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++)
      if (x[i - 1] < y[j - 1])
        c[i][j] = (c[i - 1][j - 1] + c[i - 1][j] - c[i][j - 1]) / 4 + i;
}

KEEP void affine_gaps(int n, int m, const int *restrict x, const int *restrict y, int h[restrict n + 1][m + 1], int e[restrict n + 1][m + 1],
                      int f[restrict n + 1][m + 1]) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++) {
      e[i][j] = MAX(e[i][j - 1] - 1, h[i][j - 1] - 3);
      f[i][j] = MAX(f[i - 1][j] - 1, h[i - 1][j] - 3);
      int t = h[i - 1][j - 1] + (x[i - 1] == y[j - 1] ? 4 : -2);
      t = MAX(t, e[i][j]);
      t = MAX(t, f[i][j]);
      h[i][j] = MAX(t, 0);
    }
}

// Old values of the right and lower neighbours: the whole window comes from outside.
KEEP void relax(int n, int m, TYPE a[n + 1][m + 1], TYPE w) {
  for (int i = 1; i < n; i++)
    for (int j = 1; j < m; j++)
      a[i][j] = (1 - w) * a[i][j] + w / 4 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
}

// From the last element on.
KEEP void upwards(int n, int m, TYPE a[n + 1][m + 1]) {
  for (int i = n - 1; i >= 0; i--)
    for (int j = m - 1; j >= 0; j--)
      a[i][j] = a[i][j] / 2 + a[i + 1][j] / 4 + a[i][j + 1] / 8;
}

// Two statements an iteration, the second of which reads what the first one wrote there and before.
KEEP void two_in_turn(int n, int m, TYPE a[restrict n + 1][m + 1], TYPE b[restrict n + 1][m + 1]) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++) {
      a[i][j] = a[i - 1][j] / 2 + b[i][j - 1] / 4;
      b[i][j] = a[i][j] + b[i - 1][j] / 8 + a[i - 1][j - 1] / 16;
    }
}

// Beneath a host loop, between other loops.
KEEP void iterated(int n, int m, int k, TYPE a[restrict n + 1][m + 1], TYPE s[restrict m + 1]) {
  for (int t = 0; t < k; t++) {
    for (int j = 0; j <= m; j++)
      a[0][j] = s[j] + t;
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= m; j++)
        a[i][j] = a[i - 1][j] / 2 + a[i][j - 1] / 4 + a[i][j] / 8;
    for (int j = 0; j <= m; j++)
      s[j] += a[n][j];
  }
}

// Three loops.
KEEP void gauss(int n, int m, int k, TYPE u[restrict n + 1][m + 1], TYPE f[restrict n + 1][m + 1]) {
  for (int t = 0; t < k; t++)
    for (int i = 1; i < n; i++)
      for (int j = 1; j < m; j++)
        u[i][j] = (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]) / 4;
}

KEEP void box_of_nine(int n, int m, int k, TYPE a[n + 1][m + 1]) {
  for (int t = 0; t < k; t++)
    for (int i = 1; i < n; i++)
      for (int j = 1; j < m; j++)
        a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j - 1] + a[i + 1][j] +
                   a[i + 1][j + 1]) / 9;
}

// The borders by loops of their own.
KEEP void border_first(int n, int m, TYPE a[n + 1][m + 1]) {
  for (int i = 0; i <= n; i++)
    a[i][0] = i;
  for (int j = 0; j <= m; j++)
    a[0][j] = j;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++) {
      TYPE t = MAX(a[i - 1][j], a[i][j - 1]);
      a[i][j] = MAX(t, a[i - 1][j - 1] + 1);
    }
}

// A band along the diagonal: too few points a launch.
KEEP void skewed_band(int n, int m, TYPE a[n + 1][m + 1]) {
  for (int i = 1; i <= n; i++)
    for (int j = MAX(1, i - 20); j <= m && j <= i + 20; j++)
      a[i][j] = a[i][j] / 4 + a[i - 1][j] / 2 + a[i][j - 1] / 4;
}

#define SHOW(p, n) printf("%016llx\n", (unsigned long long)example_hash(p, (n) * sizeof *(p)))

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 100, m = argc > 2 ? atoi(argv[2]) : 90, k = argc > 3 ? atoi(argv[3]) : 3;
  size_t all = (size_t)(n + 1) * (m + 1);
  TYPE *a = example_array(all), *b = example_array(all), *s = example_array(m + 1);
  int *x = malloc((n + m + 1) * sizeof *x), *c = calloc(all, sizeof *c), *d = calloc(all, sizeof *d), *e = calloc(all, sizeof *e);
  example_fill(a, all);
  example_fill(b, all);
  example_fill(s, m + 1);
  for (int i = 0; i < n + m; i++)
    x[i] = (i * 7 + i / 3) % 4;
  subsequence(n, m, x, x + n, (void *)c);
  SHOW(c, all);
  where_less(n, m, x, x + n, (void *)c);
  SHOW(c, all);
  for (size_t i = 0; i < all; i++)
    c[i] = 0;
  affine_gaps(n, m, x, x + n, (void *)c, (void *)d, (void *)e);
  SHOW(c, all);
  relax(n, m, (void *)a, (TYPE)1.25);
  SHOW(a, all);
  upwards(n, m, (void *)a);
  SHOW(a, all);
  two_in_turn(n, m, (void *)a, (void *)b);
  SHOW(b, all);
  iterated(n, m, k, (void *)a, s);
  SHOW(s, m + 1);
  gauss(n, m, k, (void *)a, (void *)b);
  SHOW(a, all);
  box_of_nine(n, m, k, (void *)a);
  SHOW(a, all);
  skewed_band(n, m, (void *)a);
  SHOW(a, all);
  border_first(n, m, (void *)a);
  SHOW(a, all);
  example_fill(a, all);
  table(n, m, (void *)a);
  SHOW(a, all);
  free(a);
  free(b);
  free(s);
  free(x);
  free(c);
  free(d);
  free(e);
  return 0;
}
