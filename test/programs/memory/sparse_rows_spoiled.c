// Sparse rows whose numbers are spoiled: a column that is written, one before the array, bounds that reach beyond all memory in a row that is left out, and a list of columns that is itself written.
// ARGS: 200
// ARGS: 3
// OFFLOAD: partial
// STAYS: onto_itself: what it writes are the columns
// FALLBACK: overlap
// FALLBACK: not readable
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void product(int n, const int *ptr, const int *col, const TYPE *val, const TYPE *x, TYPE *y) {
  for (int i = 0; i < n; ++i) {
    TYPE s = 0;
    for (int k = ptr[i]; k < ptr[i + 1]; ++k)
      s += val[k] * x[col[k]];
    y[i] = s;
  }
}

KERNEL void selected(int n, const TYPE *restrict w, const int *restrict ptr, const int *restrict col, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i)
    if (w[i] > 0) {
      TYPE s = 0;
      for (int k = ptr[2 * i]; k < ptr[2 * i + 1]; ++k)
        s += x[col[k]];
      y[i] = s;
    }
}

KERNEL void onto_itself(int n, const int *ptr, const int *col, const int *x, int *y) {
  for (int i = 0; i < n; ++i) {
    int s = 0;
    for (int k = ptr[i]; k < ptr[i + 1]; ++k)
      s += x[col[k]];
    y[i] = s & 3;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 200);
  size_t m = (size_t)n + 1;
  int *ptr = malloc(m * sizeof *ptr), *pairs = malloc(2 * m * sizeof *pairs), *col = malloc(4 * m * sizeof *col), *numbers = malloc(m * sizeof *numbers);
  /* What is in front of x is nobody's, what is behind it is y. */
  TYPE *val = example_array(4 * m), *block = example_array(3 * m), *x = block + m, *y = block + 2 * m, *w = example_array(m);
  example_fill(val, 4 * m);
  example_fill(block, 3 * m);
  example_fill(w, m);
  for (size_t i = 0; i < m; ++i) {
    ptr[i] = 3 * (int)i;
    pairs[2 * i] = 3 * (int)i;
    pairs[2 * i + 1] = 3 * (int)i + 3;
    numbers[i] = (int)(example_bits() % 4);
    w[i] -= (TYPE)0.5;
  }
  for (size_t k = 0; k < 4 * m; ++k)
    col[k] = (int)(example_bits() % (uint64_t)n);
  product(n, ptr, col, val, x, y);
  example_print("product", y, (size_t)n);
  selected(n, w, pairs, col, x, y);
  example_print("selected", y, (size_t)n);
  col[n + 1] = (int)m + n / 3;
  product(n, ptr, col, val, x, y);
  example_print("one too large", y, (size_t)n);
  col[n + 1] = -2;
  product(n, ptr, col, val, x, y);
  example_print("negative", y, (size_t)n);
  w[n / 2] = -1;
  pairs[2 * (n / 2) + 1] = 2000000000;
  selected(n, w, pairs, col, x, y);
  example_print("bounds of no row", y, (size_t)n);
  for (size_t k = 0; k < 4 * m; ++k)
    col[k] = k % 2;
  onto_itself(n, ptr, col, numbers, col);
  printf("%016llx\n", (unsigned long long)example_hash(col, 4 * m * sizeof *col));
  return 0;
}
