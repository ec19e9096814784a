// Lists that are spoiled: two integers are equal, at the ends, beside each other, and far apart, so that the last iteration wins, or each of them counts; an integer one too large, by which what is
// stored to is read as well; a list that gets equal integers while it is used; one that is on the device already.
// ARGS: 333
// ARGS: 2
// OFFLOAD: partial
// FALLBACK: two of them are equal
// FALLBACK: overlap
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void permuted(int n, const int *list, const TYPE *x, TYPE *y) {
  for (int i = 0; i < n; ++i)
    y[list[i]] = x[i];
}

KERNEL void summed(int n, const int *restrict list, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i)
    y[list[i]] += x[i];
}

KERNEL void watched(int n, int *restrict h, const int *restrict p, int *restrict seen) {
  for (int i = 0; i < n; ++i)
    seen[i] = h[p[i]]++;
}

KERNEL void spoiling(int n, int count, int *restrict list, const TYPE *restrict x, TYPE *restrict y) {
  for (int t = 0; t < count; ++t) {
    for (int i = 0; i < n; ++i)
      y[list[i]] = y[list[i]] * (TYPE)0.5 + x[i];
    for (int i = 0; i < n; ++i)
      list[i] = list[i] & ~(t & 1);
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333);
  size_t m = (size_t)n + 16;
  TYPE *y = example_array(4 * m), *x = y + n;
  int *list = calloc(3 * m, sizeof *list), *h = list + m, *seen = list + 2 * m;
  example_fill(y, 4 * m);
  for (int i = 0; i < n; ++i)
    list[i] = n - 1 - i;
  permuted(n, list, x, y);
  summed(n, list, x, y);
  watched(n, h, list, seen);
  example_print("fine", y, m);
  for (int k = 0; k < 3; ++k) {
    int a = k == 1 ? n / 2 - 1 : 0, b = k == 1 ? n / 2 : n - 1, before = list[b];
    list[b] = list[a];
    permuted(n, list, x, y);
    example_print("equal", y, m);
    summed(n, list, x, y);
    example_print("summed", y, m);
    watched(n, h, list, seen);
    printf("watched %016llx\n", (unsigned long long)example_hash(h, 8 * m));
    list[b] = before;
  }
  /* Stores to x[0], which a later iteration reads. */
  list[1] = n;
  list[0] = n + 1;
  permuted(n, list, x, y);
  example_print("one too large", y, m);
  for (int i = 0; i < n; ++i)
    list[i] = i;
  spoiling(n, 4, list, x, y);
  example_print("spoiling", y, m);
  free(y), free(list);
  return 0;
}
