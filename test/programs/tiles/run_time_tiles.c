// Loops over tiles whose size is an argument, in two and three dimensions, beside loops that keep points from being rows: the order of tiles is seen to make no difference, or counts.
//
// ARGS: 40 7 3
// ARGS: 33 32 2
// ARGS: 33 1 1
// ARGS: 20 100 2
// ARGS: 1 1 1
// ARGS: 0 5 1
// OFFLOAD: partial
// KERNELS: add both fill product front inclusive wide volume steps
#include "example.h"

#define KEEP __attribute__((noinline)) static
#define MIN(a, b) ((a) < (b) ? (a) : (b))

KEEP void add(long n, long ts, const TYPE *a, TYPE *b) {
  for (long i = 0; i < n; i += ts)
    for (long j = 0; j < n; j += ts)
      for (long it = i; it < MIN(n, i + ts); it++)
        for (long jt = j; jt < MIN(n, j + ts); jt++)
          b[jt + n * it] += a[it + n * jt];
}

KEEP void both(int n, int ts, TYPE *a, TYPE *b) {
  for (int i = 0; i < n; i += ts)
    for (int j = 0; j < n; j += ts)
      for (int it = i; it < MIN(n, i + ts); it++)
        for (int jt = j; jt < MIN(n, j + ts); jt++) {
          b[jt + n * it] += a[it + n * jt];
          a[it + n * jt] += 1.0;
        }
}

// Of one array, for which nothing is proved: the program's own loops run.
KEEP void same(int n, int ts, TYPE *a, TYPE *b) {
  for (int i = 0; i < n; i += ts)
    for (int j = 0; j < n; j += ts)
      for (int it = i; it < MIN(n, i + ts); it++)
        for (int jt = j; jt < MIN(n, j + ts); jt++) {
          b[jt + n * it] += a[it + n * jt];
          a[it + n * jt] += 1.0;
        }
}

// Of two sizes of tiles, from an element on.
KEEP void fill(int n, int m, int ts, int us, TYPE *a) {
  for (int i = 1; i < n; i += ts)
    for (int j = 2; j < m; j += us)
      for (int it = i; it < MIN(n, i + ts); it++)
        for (int jt = j; jt < MIN(m, j + us); jt++)
          a[it * m + jt] = 0.5 * it - jt;
}

// Sums in the order of `k`, whatever the tiles.
KEEP void product(int n, int ts, const TYPE *a, const TYPE *b, TYPE *c) {
  for (int ii = 0; ii < n; ii += ts)
    for (int kk = 0; kk < n; kk += ts)
      for (int jj = 0; jj < n; jj += ts)
        for (int i = ii; i < MIN(ii + ts, n); i++)
          for (int j = jj; j < MIN(jj + ts, n); j++)
            for (int k = kk; k < MIN(kk + ts, n); k++)
              c[i * n + j] += a[i * n + k] * b[k * n + j];
}

// Each element needs those above and to the left: tiles are in order as well.
KEEP void front(int n, int ts, TYPE *a) {
  for (int i = 1; i < n; i += ts)
    for (int j = 1; j < n; j += ts)
      for (int it = i; it < MIN(n, i + ts); it++)
        for (int jt = j; jt < MIN(n, j + ts); jt++)
          a[it * n + jt] = 0.5 * (a[(it - 1) * n + jt] + a[it * n + jt - 1]);
}

// Each element needs that above and to the right, as the tiles before have left it: the order counts.
KEEP void skewed(int n, int ts, TYPE *a) {
  for (int i = 1; i < n; i += ts)
    for (int j = 0; j < n - 1; j += ts)
      for (int it = i; it < MIN(n, i + ts); it++)
        for (int jt = j; jt < MIN(n - 1, j + ts); jt++)
          a[it * n + jt] += 0.25 * a[(it - 1) * n + jt + 1];
}

// Where a point is in its tile is seen.
KEEP void places(int n, int ts, TYPE *a) {
  for (int i = 0; i < n; i += ts)
    for (int j = 0; j < n; j += ts)
      for (int it = i; it < MIN(n, i + ts); it++)
        for (int jt = j; jt < MIN(n, j + ts); jt++)
          a[it * n + jt] += (it - i) * 3 + jt - j;
}

// Up to the last element of a tile, as in Fortran.
KEEP void inclusive(int n, int ts, const TYPE *a, TYPE *b) {
  for (int j = 1; j <= n; j += ts)
    for (int i = 1; i <= n; i += ts)
      for (int jt = j; jt <= MIN(n, j + ts - 1); jt++)
        for (int it = i; it <= MIN(n, i + ts - 1); it++)
          b[(it - 1) * n + jt - 1] -= a[(jt - 1) * n + it - 1];
}

KEEP void wide(size_t n, size_t ts, const TYPE *a, TYPE *b) {
  for (size_t i = 0; i < n; i += ts)
    for (size_t j = 0; j < n; j += ts)
      for (size_t it = i; it < MIN(n, i + ts); it++)
        for (size_t jt = j; jt < MIN(n, j + ts); jt++)
          b[it * n + jt] = 2 * a[jt * n + it];
}

KEEP void volume(int n, int m, int l, int ts, TYPE a[n][m][l], TYPE b[l][m][n]) {
  for (int i = 0; i < n; i += ts)
    for (int j = 0; j < m; j += ts)
      for (int k = 0; k < l; k += ts)
        for (int it = i; it < MIN(n, i + ts); it++)
          for (int jt = j; jt < MIN(m, j + ts); jt++)
            for (int kt = k; kt < MIN(l, k + ts); kt++)
              b[kt][jt][it] = a[it][jt][kt] + 1;
}

// A nest in a loop, one buffer in place of the other each time.
KEEP void steps(int n, int ts, int count, TYPE *a, TYPE *b) {
  for (int t = 0; t < count; t++)
    for (int i = 0; i < n; i += ts)
      for (int j = 0; j < n; j += ts)
        for (int it = i; it < MIN(n, i + ts); it++)
          for (int jt = j; jt < MIN(n, j + ts); jt++) {
            b[jt * n + it] += a[it * n + jt];
            a[it * n + jt] += 0.5;
          }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 40), ts = (int)example_arg(argc, argv, 2, 7), count = (int)example_arg(argc, argv, 3, 3);
  size_t all = (size_t)n * n;
  TYPE *a = example_array(all), *b = example_array(all), *c = example_array(all), *u = example_array(all * 5), *v = example_array(all * 5);
  example_fill(a, all);
  example_fill(b, all);
  example_fill(c, all);
  example_fill(u, all * 5);
  add(n, ts, a, b);
  both(n, ts, a, b);
  example_print("b", b, all);
  same(n, ts, c, b);
  same(n, ts, a, a);
  example_print("a", a, all);
  fill(n, n, ts, ts + 2, c);
  example_print("c", c, all);
  product(n, ts, a, b, c);
  example_print("c", c, all);
  front(n, ts, b);
  skewed(n, ts, b);
  places(n, ts, a);
  inclusive(n, ts, a, b);
  example_print("b", b, all);
  wide(n, ts, b, a);
  example_print("a", a, all);
  volume(n, 5, n, ts, (void *)u, (void *)v);
  example_print("v", v, all * 5);
  steps(n, ts, count, a, b);
  example_print("a", a, all);
  example_print("b", b, all);
  free(a);
  free(b);
  free(c);
  free(u);
  free(v);
  return 0;
}
