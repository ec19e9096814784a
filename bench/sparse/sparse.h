/* What the programs of this folder share beside bench/everyday2/everyday2.h: random sparse structures. */
#ifndef SPARSE_H
#define SPARSE_H
#include "../everyday2/everyday2.h"

/* A number of [0, 1). */
static double share(void) { return (double)(next() >> 11) * 0x1p-53; }

/* Where rows begin, in `n` rows of `mean` entries: all about as long, or (skewed) by a power law, of which the longest is 4096 times the mean. */
HOST static int *starts(int n, int mean, int skewed) {
  int *p = memory((n + 1) * sizeof *p);
  p[0] = 0;
  for (int i = 0; i < n; i++) {
    double u = share();
    double length = skewed ? fmin(0.4 * mean / pow(1 - u, 0.65), 4096.0 * mean) : mean / 2 + u * (mean + 1);
    p[i + 1] = p[i] + (int)length;
  }
  return p;
}

HOST static long *longs(const int *from, long n) {
  long *p = memory(n * sizeof *p);
  for (long i = 0; i < n; i++)
    p[i] = from[i];
  return p;
}

/* Columns near the diagonal, ascending in each row. */
HOST static int *near(int n, const int *start, int width) {
  int *p = memory(start[n] * sizeof *p);
  for (int i = 0; i < n; i++) {
    int length = start[i + 1] - start[i], first = i - width / 2 < 0 ? 0 : i - width / 2;
    for (int k = 0; k < length; k++) {
      int c = first + (int)((k + share()) * width / (length > 0 ? length : 1));
      p[start[i] + k] = c < n ? c : n - 1;
    }
  }
  return p;
}

HOST static int *permutation(long n) {
  int *p = memory(n * sizeof *p);
  for (long i = 0; i < n; i++)
    p[i] = (int)i;
  for (long i = n - 1; i > 0; i--) {
    long j = (long)(next() % (unsigned long long)(i + 1));
    int t = p[i];
    p[i] = p[j], p[j] = t;
  }
  return p;
}

/* Neighbours of points in a row, `reach` away at most: what is sorted by place has. */
HOST static int *nearby(long n, int each, int reach, int limit) {
  int *p = memory(n * each * sizeof *p);
  for (long i = 0; i < n; i++)
    for (int k = 0; k < each; k++) {
      long c = (long)((double)i * limit / n) + (long)(next() % (unsigned)(2 * reach + 1)) - reach;
      p[i * each + k] = (int)(c < 0 ? 0 : c >= limit ? limit - 1 : c);
    }
  return p;
}
#endif
