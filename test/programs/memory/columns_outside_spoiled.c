// Rows between loaded bounds, column by column, where columns must not be outside: rows that are read are written as well, all of them, some, or by a column that is one too large;
// bounds that are sums themselves; bounds that go down.
// ARGS: 120
// OFFLOAD: partial
// FALLBACK: overlap
#include "example.h"

#define KERNEL __attribute__((noinline)) static

static unsigned number(unsigned most) {
  static unsigned long long state = 7;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % most;
}

KERNEL void product(int n, const int *start, const int *column, const TYPE *value, const TYPE (*x)[16], TYPE (*y)[16]) {
  for (int i = 0; i < n; ++i)
    for (int k = start[i]; k < start[i + 1]; ++k)
      for (int c = 0; c < 16; ++c)
        y[i][c] += value[k] * x[column[k]][c];
}

/* The element to the right, which the row before this one has changed. */
KERNEL void shifted(int n, const int *start, const TYPE *value, const TYPE (*x)[16], TYPE (*y)[16]) {
  for (int i = 0; i < n; ++i)
    for (int k = start[i]; k < start[i + 1]; ++k)
      for (int c = 0; c < 15; ++c)
        y[i][c] += value[k] * x[i][c + 1];
}

KERNEL void counts(int n, int *start, const int *column, const int (*x)[16], int (*y)[16]) {
  for (int i = 0; i < n; ++i)
    for (int k = start[i]; k < start[i + 1]; ++k)
      for (int c = 0; c < 16; ++c)
        y[i][c] += x[column[k]][c];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 120);
  int *start = calloc((size_t)n + 40, sizeof *start), *column = calloc(5 * (size_t)n + 1, sizeof *column);
  for (int i = 0; i < n; ++i)
    start[i + 1] = start[i] + (int)(number(5));
  for (int k = 0; k < start[n]; ++k)
    column[k] = (int)(number((unsigned)n));
  size_t m = 16 * (size_t)(n + 1);
  TYPE *x = example_array(2 * m), *y = x + 16 * n, *w = example_array(5 * m);
  int *a = calloc(2 * m, sizeof *a);
  example_fill(x, 2 * m), example_fill(w, 5 * m);
#define SHOW(what) example_print(what, x, 2 * m)
  product(n, start, column, w, (void *)x, (void *)y), SHOW("fine");
  product(n, start, column, w, (void *)x, (void *)x), SHOW("itself");
  product(n, start, column, w, (void *)(x + 32), (void *)x), SHOW("overlap");
  shifted(n, start, w, (void *)x, (void *)x), SHOW("shifted");
  shifted(n, start, w, (void *)x, (void *)y), SHOW("shifted, apart");
  column[3] = n;
  product(n, start, column, w, (void *)x, (void *)y), SHOW("one too large");
  column[3] = 0;
  start[5] = start[4] - 2;
  product(n, start, column, w, (void *)x, (void *)y), SHOW("down");
  for (int i = 0; i < 16 * n; ++i)
    a[i] = i % 3;
  counts(n, start, column, (void *)a, (void *)(a + m));
  printf("counts %016llx\n", (unsigned long long)example_hash(a, 2 * m * sizeof *a));
  /* Rows of results over the bounds. */
  for (int i = 0; i <= n; ++i)
    start[i] = i;
  counts(3, start, column, (void *)a, (void *)(start + 2));
  printf("bounds %016llx\n", (unsigned long long)example_hash(start, (size_t)n * sizeof *start));
  free(x), free(w), free(start), free(column), free(a);
  return 0;
}
