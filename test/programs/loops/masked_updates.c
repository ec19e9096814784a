// Updates behind conditions that guard what they load: counts and sums of integers, minima and maxima, with their places, of numbers among which NaNs and infinities are, where no element is
// taken, of rows, and several updates behind one condition.
// ARGS: 1500 30
// ARGS: 257 3
// ARGS: 5 1
// ARGS: 1 1
// ARGS: 0 0
// OFFLOAD: yes
// KERNELS: sum product bits least largest unsigned_least place place_of_integer several rows flagged
#include "example.h"
#include <math.h>

#define N __attribute__((noinline)) static

N int sum(const int *restrict a, const double *restrict b, long n) {
  int s = 3;
  for (long i = 0; i < n; i++)
    if (b[i] > 0)
      s += a[i];
  return s;
}

N unsigned product(const unsigned *restrict a, const double *restrict b, long n) {
  unsigned s = 1;
  for (long i = 0; i < n; i++)
    if (b[i] > 0)
      s *= a[i] | 1;
  return s;
}

N unsigned bits(const unsigned *restrict a, const double *restrict b, long n) {
  unsigned s = ~0u;
  for (long i = 0; i < n; i++)
    if (b[i] > 0.5)
      s &= a[i];
  return s;
}

N double least(const double *restrict a, const double *restrict b, long n) {
  double m = 1e300;
  for (long i = 0; i < n; i++)
    if (b[i] > 0 && a[i] < m)
      m = a[i];
  return m;
}

N int largest(const int *restrict a, const double *restrict b, long n) {
  int m = -2147483647 - 1;
  for (long i = 0; i < n; i++)
    if (b[i] > 0 && a[i] > m)
      m = a[i];
  return m;
}

N unsigned unsigned_least(const unsigned *restrict a, const double *restrict b, long n) {
  unsigned m = 0xffffffffu;
  for (long i = 0; i < n; i++)
    if (b[i] > 0 && a[i] < m)
      m = a[i];
  return m;
}

N long place(const double *restrict a, const double *restrict b, long n, double m) {
  long k = -1;
  for (long i = 0; i < n; i++)
    if (b[i] > 0 && a[i] < m) {
      m = a[i];
      k = i;
    }
  return k;
}

N long place_of_integer(const int *restrict a, const double *restrict b, long n) {
  int m = -5;
  long k = -1;
  for (long i = 0; i < n; i++)
    if (b[i] > 0 && a[i] > m) {
      m = a[i];
      k = i;
    }
  return k;
}

N long several(const int *restrict a, const unsigned *restrict c, const double *restrict b, long n) {
  int s = 0;
  unsigned x = 7, m = 0;
  for (long i = 0; i < n; i++)
    if (b[i] > 0.25) {
      s += a[i];
      x ^= c[i];
      m = c[i] > m ? c[i] : m;
    }
  return s + (long)x * 3 + m;
}

N void rows(const int *restrict a, const double *restrict b, int *restrict o, long n, long m) {
  for (long i = 0; i < n; i++) {
    int s = 0;
    for (long j = 0; j < m; j++)
      if (b[i * m + j] > 0)
        s += a[i * m + j];
    o[i] = s;
  }
}

// The flag is an integer that the loop hands on as well.
N int flagged(const int *restrict a, const double *restrict b, long n) {
  int any = 0;
  for (long i = 0; i < n; i++)
    if (b[i] > 0.75)
      any |= a[i] > 90;
  return any;
}

int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 1500), m = example_arg(argc, argv, 2, 30), all = n * m + n + 1;
  int *a = malloc((size_t)all * sizeof *a), *o = malloc((size_t)all * sizeof *o);
  unsigned *c = malloc((size_t)all * sizeof *c);
  double *x = malloc((size_t)all * sizeof *x), *b = malloc((size_t)all * sizeof *b);
  for (int turn = 0; turn < 4; turn++) {
    for (long i = 0; i < all; i++) {
      a[i] = (int)(i * 7919 % 101);
      o[i] = 0;
      c[i] = (unsigned)i * 2654435761u | 0x10000u;
      b[i] = turn == 2 ? -1 : turn == 3 && i % 7 == 0 ? NAN : (double)(i * 31 % 17) / 8 - 1;
      x[i] = turn == 1 && i % 5 == 0 ? NAN : turn == 1 && i % 11 == 0 ? -INFINITY : (double)(i * 37 % 1009) - 300;
    }
    printf("%d %u %u %a %d %u\n", sum(a, b, n), product(c, b, n), bits(c, b, n), least(x, b, n), largest(a, b, n), unsigned_least(c, b, n));
    printf("%ld %ld %ld %ld %ld\n", place(x, b, n, 1e9), place(x, b, n, INFINITY), place(x, b, n, NAN), place_of_integer(a, b, n), several(a, c, b, n));
    rows(a, b, o, n, m);
    printf("%016llx %d\n", (unsigned long long)example_hash(o, (size_t)all * sizeof *o), flagged(a, b, n));
  }
  free(a);
  free(o);
  free(c);
  free(x);
  free(b);
  return 0;
}
