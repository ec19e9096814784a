// Stores to elements that a list gives, no two integers of which are equal: permutations, sums in place, rows, members of regions, under conditions, at a distance, several
// steps over one list, and lists that change between steps.
// ARGS: 333
// ARGS: 0
// ARGS: 1
// OFFLOAD: yes
// KERNELS: permuted natural summed region rows filtered wide watched steps changing
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void permuted(int n, const int *restrict list, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i)
    y[list[i]] = x[i];
}

KERNEL void natural(unsigned n, const unsigned *list, const TYPE *x, TYPE *y) {
  for (unsigned i = 0; i < n; ++i)
    y[list[i]] = 2 * x[i];
}

KERNEL void summed(int n, const int *restrict list, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i)
    y[list[i]] += x[i] * x[i];
}

KERNEL void region(int n, const int *restrict list, const TYPE *restrict p, const TYPE *restrict e, TYPE *restrict q) {
  for (int i = 0; i < n; ++i) {
    int z = list[i];
    q[z] = p[z] * e[z] + 1;
  }
}

KERNEL void rows(int n, int m, const int *restrict list, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      y[list[i] * m + j] -= x[i * m + j];
}

KERNEL void filtered(int n, const int *restrict list, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i)
    if (x[i] > 0)
      y[list[i]] = x[i];
}

KERNEL void wide(long n, const long *restrict list, const TYPE *restrict x, TYPE *restrict y) {
  for (long i = 0; i < n; ++i)
    y[list[i] + 3] = x[i] - 1;
}

KERNEL void watched(int n, int *restrict h, const int *restrict p, int *restrict seen) {
  for (int i = 0; i < n; ++i)
    seen[i] = h[p[i]]++;
}

KERNEL void steps(int n, int count, const int *restrict list, const TYPE *restrict x, TYPE *restrict y) {
  for (int t = 0; t < count; ++t)
    for (int i = 0; i < n; ++i)
      y[list[i]] = y[list[i]] * (TYPE)0.5 + x[i];
}

/* The list is turned between steps, and inspected again. */
KERNEL void changing(int n, int count, int *restrict list, const TYPE *restrict x, TYPE *restrict y) {
  for (int t = 0; t < count; ++t) {
    for (int i = 0; i < n; ++i)
      y[list[i]] += x[i];
    for (int i = 0; i < n; ++i)
      list[i] = list[i] ^ 1;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333);
  size_t m = (size_t)n + 16;
  TYPE *x = example_array(20 * m), *y = x + 8 * m, *e = x + 18 * m;
  int *list = calloc(4 * m, sizeof *list), *h = list + 2 * m, *seen = list + 3 * m;
  long *wide_list = calloc(m, sizeof *wide_list);
  example_fill(x, 20 * m);
  for (int i = 0; i < n; ++i)
    list[i] = i;
  for (int i = n - 1; i > 0; --i) {
    int k = (int)(example_bits() % (uint64_t)(i + 1)), swapped = list[i];
    list[i] = list[k];
    list[k] = swapped;
  }
  for (int i = 0; i < n; ++i)
    wide_list[i] = 2 * (long)list[i];
  permuted(n, list, x, y);
  example_print("permuted", y, m);
  natural((unsigned)n, (unsigned *)list, x, y);
  example_print("natural", y, m);
  summed(n, list, x, y);
  example_print("summed", y, m);
  region(n / 2, list, x, e, y);
  example_print("region", y, m);
  rows(n, 7, list, x, y);
  example_print("rows", y, 10 * m);
  filtered(n, list, x, y);
  example_print("filtered", y, m);
  wide(n, wide_list, x, y);
  example_print("wide", y, 3 * m);
  steps(n, 5, list, x, y);
  example_print("steps", y, m);
  watched(n, h, list, seen);
  printf("watched %016llx\n", (unsigned long long)example_hash(h, 8 * m));
  changing(n, 5, list, x, y);
  example_print("changing", y, 3 * m);
  printf("lists %016llx\n", (unsigned long long)example_hash(list, 16 * m));
  free(x), free(list), free(wide_list);
  return 0;
}
