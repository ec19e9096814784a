// Rounded subscripts of spoiled numbers: what is not a number, infinite or far outside, tested before, clamped, or of no use; too large, so that what
// is read is written; numbers that lie in what is written; divisors of both signs, also of remainders; steps that are negative; and a missing page.
// ARGS: 333
// ARGS: 1
// OFFLOAD: partial
// FALLBACK: may be too large, or not a number
// FALLBACK: overlap
// FALLBACK: not readable
#include "example.h"
#include <limits.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#define KERNEL __attribute__((noinline)) static

KERNEL void looked_up(int n, const TYPE *x, const TYPE *t, TYPE *y) {
  for (int i = 0; i < n; i++)
    y[i] = t[(int)x[i]];
}

KERNEL void tested(int n, const TYPE *x, int last, const TYPE *t, TYPE *y) {
  for (int i = 0; i < n; i++) {
    if (x[i] >= 0 && x[i] < (TYPE)last)
      y[i] = t[(int)x[i]];
    else
      y[i] = -1;
  }
}

KERNEL void tested_the_other_way(int n, const TYPE *x, int last, const TYPE *t, TYPE *y) {
  for (int i = 0; i < n; i++) {
    y[i] = -1;
    if (x[i] < 0 || x[i] >= (TYPE)last || x[i] != x[i])
      continue;
    y[i] = t[(int)x[i]];
  }
}

KERNEL void clamped(int n, const TYPE *x, int last, const TYPE *t, TYPE *y) {
  for (int i = 0; i < n; i++)
    y[i] = t[(int)fmin(fmax(x[i], 0), last)];
}

KERNEL void divided(int n, const TYPE *x, const TYPE *by, const TYPE *t, TYPE *y) {
  for (int i = 0; i < n; i++) {
    TYPE q = x[i] / by[i];
    if (q >= 0 && q < 20)
      y[i] += t[(int)q];
  }
}

KERNEL void weighted(int n, const TYPE *w, const TYPE *x, const TYPE *t, TYPE *y) {
  for (int i = 0; i < n; i++)
    if (w[i] > 0)
      y[i] += t[(int)x[i]];
}

KERNEL void backwards(int n, int step, TYPE scale, const TYPE *t, TYPE *y) {
  for (int i = 0; i < n; i++)
    y[i] = t[(int)((TYPE)(step * i) * scale)];
}

KERNEL void far_apart(long first, long n, TYPE scale, const TYPE *t, TYPE *y) {
  for (long i = 0; i < n; i++)
    y[i] = t[(long)((TYPE)(first + i) * scale)];
}

KERNEL void wrapped(int n, int by, int m, const TYPE *t, TYPE *y) {
  for (int i = 0; i < n; i++)
    y[i] = t[i * by % m];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333);
  size_t m = (size_t)n + 40;
  /* Behind the table is what is written. */
  TYPE *x = example_array(m), *w = example_array(m), *table = example_array(2 * m), *t = table + 20, *y = table + m;
  example_fill(x, m);
  example_fill(w, m);
  example_fill(table, m);
  for (size_t i = 0; i < m; i++) {
    x[i] = (TYPE)(fabs((double)x[i]) * 19.99);
    w[i] -= (TYPE)0.5;
  }
  const TYPE spoiled[] = {(TYPE)NAN, -(TYPE)NAN, INFINITY, -INFINITY, (TYPE)1e30, (TYPE)-1e30, (TYPE)2147483648.0, (TYPE)-2147483648.0, -(TYPE)0.0};
  for (size_t k = 0; k < sizeof spoiled / sizeof *spoiled; k++) {
    TYPE before = x[n / 2];
    x[n / 2] = spoiled[k];
    tested(n, x, 20, t, y);
    example_print("tested", y, (size_t)n);
    tested_the_other_way(n, x, 20, t, y);
    example_print("tested the other way", y, (size_t)n);
    clamped(n, x, 20, t, y);
    example_print("clamped", y, (size_t)n);
    /* Where it is of no use. */
    w[n / 2] = -1;
    weighted(n, w, x, t, y);
    example_print("weighted", y, (size_t)n);
    divided(n, x, w, t, y);
    example_print("divided", y, (size_t)n);
    x[n / 2] = before;
  }
  tested(n, x, INT_MAX, t, y);
  tested(n, x, 0, t, y);
  tested(n, x, INT_MIN, t, y);
  example_print("borders", y, (size_t)n);
  /* An element that an earlier iteration has written, or a later one; and before the table. */
  for (int place = 0; place < n; place += n / 2 + 1) {
    TYPE before = x[place];
    x[place] = (TYPE)((int)m - 20 + n / 3);
    looked_up(n, x, t, y);
    example_print("too large", y, (size_t)n);
    x[place] = (TYPE)-7.5;
    looked_up(n, x, t, y);
    example_print("negative", y, (size_t)n);
    x[place] = before;
  }
  /* Numbers that the loop writes: at their own place, one behind, and one before. */
  for (size_t i = 0; i < 2 * m; i++)
    table[i] = (TYPE)(i % 11);
  looked_up(n, y, t, y);
  looked_up(n, y + 1, t, y);
  example_print("in place", y, (size_t)n);
  looked_up(n, y, t, y + 1);
  example_print("one behind", y, (size_t)n);
  backwards(n, -1, (TYPE)(8.0 / n), t + 9, y);
  backwards(n, 1, (TYPE)(-8.0 / n), t + 9, y);
  backwards(n, 0, 1, t, y);
  example_print("backwards", y, (size_t)n);
  far_apart(-(long)n, n, (TYPE)(7.0 / n), t + 8, y);
  far_apart(LONG_MIN, 0, 1, t, y);
  far_apart(LONG_MIN, n, (TYPE)1e-30, t + 8, y);
  far_apart(LONG_MAX - n, n, (TYPE)1e-30, t + 8, y);
  example_print("far apart", y, (size_t)n);
  wrapped(n, 7919, 17, t, y);
  example_print("wrapped", y, (size_t)n);
  wrapped(n, -3, 17, t, y);
  wrapped(n, 5, -17, t, y);
  wrapped(n, 0, INT_MIN, t, y);
  example_print("wrapped the other way", y, (size_t)n);
  /* No page behind the numbers that the loop looks at. */
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || munmap(pages + page, page) != 0)
    return 1;
  TYPE *edge = (TYPE *)(void *)(pages + page) - 5;
  for (int i = 0; i < 5; i++)
    edge[i] = (TYPE)i;
  for (int i = 0; i < n; i++)
    w[i] = i < 5 ? 1 : -1;
  weighted(n, w, edge, t, y);
  example_print("missing page", y, (size_t)n);
  return 0;
}
