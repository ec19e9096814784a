// Reductions that run in parts: integer sums, products of signs, extrema, bits, counts, over a vector, a matrix and the rows of one; and
// minima and maxima of floating-point values with NaNs and zeros of both signs, which keep their order.
// ARGS: 1000
// ARGS: 0
// ARGS: 1
// ARGS: 2
// ARGS: 70001
// OFFLOAD: yes
#include "example.h"
#include <math.h>

#define KEEP __attribute__((noinline)) static

KEEP int sum(int n, const int *a) {
  int s = 5;
  for (int i = 0; i < n; ++i)
    s += a[i];
  return s;
}

KEEP long total(int n, int m, long a[n][m]) {
  long s = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      s += a[i][j];
  return s;
}

KEEP int largest(int n, const int *a) {
  int s = a[0];
  for (int i = 1; i < n; ++i)
    s = a[i] > s ? a[i] : s;
  return s;
}

KEEP unsigned bits(int n, const int *a, unsigned *all) {
  unsigned odd = 0, both = ~0u;
  for (int i = 0; i < n; ++i)
    odd ^= (unsigned)a[i];
  for (int i = 0; i < n; ++i)
    both &= (unsigned)a[i] | 5u;
  *all = both;
  return odd;
}

KEEP double norm(int n, const double *a, const double *b) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    double d = fabs(a[i] - b[i]);
    if (d > s)
      s = d;
  }
  return s;
}

/* The last of equal values: the sign of a zero shows whether the order was kept. */
KEEP double least(int n, const double *a) {
  double s = 2;
  for (int i = 0; i < n; ++i)
    if (a[i] * a[i] <= s)
      s = a[i] * a[i] * (i % 7 == 3 ? 1.0 : 0.0) * a[i];
  return s;
}

KEEP double smallest(int n, const double *a) {
  double s = 2;
  for (int i = 0; i < n; ++i)
    if (a[i] <= s)
      s = a[i];
  return s;
}

KEEP int count(int n, const double *a) {
  int c = 0;
  for (int i = 0; i < n; ++i)
    c += a[i] > 0.3;
  return c;
}

/* Every intermediate sum is seen: no reduction. */
KEEP void running(int n, int *a) {
  int s = 0;
  for (int i = 0; i < n; ++i) {
    s += a[i];
    a[i] = s;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1000), m = n > 16 ? 16 : n ? n : 1;
  int *a = malloc((size_t)n * sizeof *a + 1);
  long *l = malloc((size_t)n * sizeof *l + 1);
  double *x = malloc((size_t)n * sizeof *x + 1), *y = malloc((size_t)n * sizeof *y + 1);
  for (int i = 0; i < n; ++i) {
    /* Partial sums of a part may overflow where the whole sum does not. */
    a[i] = (int)(example_bits() >> 33) * (i % 2 ? 1 : -1);
    l[i] = (long)a[i] * 77777;
    x[i] = i % 97 == 5 ? (double)NAN : i % 31 == 3 ? -0.0 : i % 31 == 7 ? 0.0 : fabs((double)example_uniform());
    y[i] = (double)example_uniform();
  }
  unsigned all = 0, odd = bits(n, a, &all);
  printf("%u %u\n", odd, all);
  /* Alternate signs keep the program's own sum in range. */
  for (int i = 0; i + 1 < n; i += 2)
    a[i + 1] = (int)(0u - (unsigned)a[i]) - i % 5;
  printf("%d %ld\n", sum(n, a), total(n / m, m, (long(*)[m])l));
  printf("%a %a %a %d\n", norm(n, x, y), least(n, x), smallest(n, x), count(n, x));
  if (n)
    printf("%d\n", largest(n, a));
  running(n, a);
  unsigned hash = 0;
  for (int i = 0; i < n; ++i)
    hash = hash * 31u + (unsigned)a[i];
  printf("%u\n", hash);
  free(a);
  free(l);
  free(x);
  free(y);
  return 0;
}
