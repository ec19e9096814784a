// Numbers of elements that are inspected and spoiled: one too large, by which what is read is also written; a negative one, before the array; one far outside, and
// one of a missing page, which are never used.
// ARGS: 333
// ARGS: 1
// OFFLOAD: partial
// STAYS: sometimes: its table ends with the last page
// STAYS: natural_filtered: no number far outside is natural and can be read
// FALLBACK: overlap
// FALLBACK: were not inspected
// FALLBACK: not readable
// FALLBACK: is not negative: the least value of
#include "example.h"
#include <sys/mman.h>
#include <unistd.h>

#define KERNEL __attribute__((noinline)) static

KERNEL void wide(long n, const long *at, const TYPE *x, TYPE *y) {
  for (long i = 0; i < n; ++i)
    y[i] = x[at[i]] - 1;
}

KERNEL void filtered(int n, const TYPE *restrict w, const int *restrict at, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i)
    if (w[i] > 0)
      y[i] += x[at[i]] * w[i];
}

KERNEL void natural_filtered(unsigned n, const TYPE *w, const unsigned *at, const TYPE *x, TYPE *y) {
  for (unsigned i = 0; i < n; ++i)
    if (w[i] > 0)
      y[i] += x[at[i]] * w[i];
}

KERNEL void twice(int n, const int *restrict a, const int *restrict b, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i)
    y[i] = x[a[b[i]]];
}

KERNEL void sometimes(int n, const TYPE *restrict w, const int *restrict a, const int *restrict b, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i)
    if (w[i] > 0)
      y[i] += x[a[b[i]]];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333);
  size_t m = (size_t)n + 16;
  /* What is in front of x is nobody's, what is behind it is y. */
  TYPE *block = example_array(3 * m), *x = block + m, *y = block + 2 * m, *w = example_array(m);
  int *at = malloc(m * sizeof *at), *b = malloc(m * sizeof *b);
  long *wide_at = malloc(m * sizeof *wide_at);
  example_fill(block, 3 * m);
  example_fill(w, m);
  for (size_t i = 0; i < m; ++i) {
    at[i] = (int)(example_bits() % (uint64_t)n);
    wide_at[i] = at[i];
    w[i] -= (TYPE)0.5;
  }
  /* An element that is written by an earlier iteration, or a later one. */
  for (int place = 0; place < n; place += n / 2 + 1) {
    wide_at[place] = (long)m + n / 3;
    wide(n, wide_at, x, y);
    example_print("one too large", y, (size_t)n);
    wide_at[place] = -3;
    wide(n, wide_at, x, y);
    example_print("negative", y, (size_t)n);
    wide_at[place] = 0;
  }
  /* Far outside, and never used. */
  w[n / 2] = -1;
  for (int far = 0; far < 2; ++far) {
    at[n / 2] = far ? 2000000000 : -1;
    filtered(n, w, at, x, y);
    example_print("far", y, (size_t)n);
    natural_filtered((unsigned)n, w, (unsigned *)at, x, y);
    example_print("far natural", y, (size_t)n);
  }
  at[n / 2] = 0;
  /* No page where the first array of numbers has its end, behind a number that chooses no element of it. */
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || munmap(pages + page, page))
    return 1;
  int *last = (int *)(pages + page) - 16;
  for (int i = 0; i < 16; ++i)
    last[i] = i % (n < 7 ? n : 7);
  for (int i = 0; i < n; ++i)
    b[i] = i % 16;
  twice(n, last, b, x, y);
  example_print("last page", y, (size_t)n);
  for (int i = 0; i < n; ++i)
    b[i] = w[i] > 0 ? i % 16 : 4000;
  sometimes(n, w, last, b, x, y);
  example_print("missing page", y, (size_t)n);
  return 0;
}
