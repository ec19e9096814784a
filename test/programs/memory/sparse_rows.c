// Loops whose bounds lie in memory, inside of parallel ones: products with sparse matrices, in compressed rows with numbers of 32 and 64 bits, in rows of different lengths, with sums in registers
// and in memory; the list of each node's neighbours. Some rows are empty, or begin behind their end.
// ARGS: 200 300
// ARGS: 0 1
// ARGS: 1 1
// ARGS: 37 5
// OFFLOAD: yes
// KERNELS: product wide lengths in_memory neighbours selected
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void product(int n, const int *restrict ptr, const int *restrict col, const TYPE *restrict val, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i) {
    TYPE s = 0;
    for (int k = ptr[i]; k < ptr[i + 1]; ++k)
      s += val[k] * x[col[k]];
    y[i] = s;
  }
}

KERNEL void wide(size_t n, const size_t *ptr, const size_t *col, const TYPE *val, const TYPE *x, TYPE *y) {
  for (size_t i = 0; i < n; ++i) {
    TYPE s = 0;
    for (size_t k = ptr[i]; k < ptr[i + 1]; ++k)
      s += val[k] * x[col[k]];
    y[i] = s;
  }
}

KERNEL void lengths(int n, int m, const int *restrict len, const int *restrict col, const TYPE *restrict val, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i) {
    TYPE s = 0;
    for (int k = 0; k < len[i]; ++k)
      s += val[i * m + k] * x[col[i * m + k]];
    y[i] = s;
  }
}

KERNEL void in_memory(int n, const int *ptr, const int *col, const TYPE *val, const TYPE *x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i)
    for (int k = ptr[i]; k < ptr[i + 1]; ++k)
      y[i] += val[k] * x[col[k]];
}

KERNEL void neighbours(int n, const int *first, const int *last, const int *list, const TYPE *x, TYPE *far) {
  for (int i = 0; i < n; ++i) {
    TYPE most = 0;
    for (int k = first[i]; k < last[i]; ++k) {
      TYPE d = x[list[k]] - x[i];
      if (d * d > most)
        most = d * d;
    }
    far[i] = most;
  }
}

KERNEL void selected(int n, const TYPE *restrict w, const int *restrict ptr, const int *restrict col, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i)
    if (w[i] > 0) {
      TYPE s = 0;
      for (int k = ptr[i]; k < ptr[i + 1]; ++k)
        s += x[col[k]];
      y[i] = s;
    }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 200), columns = (int)example_arg(argc, argv, 2, 300);
  size_t m = (size_t)n + 1, most = 9 * m + (size_t)columns;
  int *ptr = malloc(m * sizeof *ptr), *last = malloc(m * sizeof *last), *len = malloc(m * sizeof *len), *col = malloc(most * sizeof *col);
  size_t *wide_ptr = malloc(m * sizeof *wide_ptr), *wide_col = malloc(most * sizeof *wide_col);
  TYPE *val = example_array(most), *x = example_array(m + (size_t)columns), *y = example_array(m), *w = example_array(m);
  example_fill(val, most);
  example_fill(x, m + (size_t)columns);
  example_fill(y, m);
  example_fill(w, m);
  ptr[0] = 0;
  for (int i = 0; i < n; ++i) {
    len[i] = (int)(example_bits() % 9);
    if (i % 5 == 2)
      len[i] = 0;
    ptr[i + 1] = ptr[i] + len[i];
    last[i] = i % 7 == 3 ? ptr[i] - 1 : ptr[i + 1];
    w[i] -= (TYPE)0.5;
  }
  for (size_t k = 0; k < most; ++k)
    wide_col[k] = (size_t)(col[k] = (int)(example_bits() % (uint64_t)columns));
  for (size_t i = 0; i < m; ++i)
    wide_ptr[i] = (size_t)ptr[i];
  product(n, ptr, col, val, x, y);
  example_print("product", y, (size_t)n);
  wide((size_t)n, wide_ptr, wide_col, val, x, y);
  example_print("wide", y, (size_t)n);
  lengths(n, 9, len, col, val, x, y);
  example_print("lengths", y, (size_t)n);
  in_memory(n, ptr, col, val, x, y);
  example_print("in memory", y, (size_t)n);
  neighbours(n, ptr, last, col, x, y);
  example_print("neighbours", y, (size_t)n);
  selected(n, w, ptr, col, x, y);
  example_print("selected", y, (size_t)n);
  return 0;
}
