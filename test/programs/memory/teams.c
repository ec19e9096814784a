// Rows of different lengths that a team of threads shares, 8 or 32 of them by how long rows are in the mean: sums in the program's order and in any, minima with their places, results that are read
// again, several values that iterations hand on, and counters by steps. Some rows are empty, of one element, or as long as a team or its rounds, and one less or more.
// ARGS: 60 12
// ARGS: 40 130
// ARGS: 3 2
// OFFLOAD: yes
// KERNELS: product scaled pairs sums bits nearest alternating behind
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void product(int n, const int *restrict ptr, const int *restrict col, const TYPE *restrict val, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i) {
    TYPE s = -(TYPE)0.0;
    for (int k = ptr[i]; k < ptr[i + 1]; ++k)
      s += val[k] * x[col[k]];
    y[i] = s;
  }
}

KERNEL void scaled(int n, TYPE a, TYPE b, const long *restrict ptr, const int *restrict col, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i) {
    TYPE s = 0;
    for (long k = ptr[i]; k < ptr[i + 1]; ++k)
      s -= x[col[k]];
    y[i] = a * s + b * y[i];
  }
}

KERNEL void pairs(int n, const int *restrict ptr, const int *restrict col, const TYPE (*restrict x)[2], TYPE (*restrict y)[2]) {
  for (int i = 0; i < n; ++i) {
    TYPE a = x[i][0], b = 1;
    for (int k = ptr[i]; k < ptr[i + 1]; ++k) {
      a = a * (TYPE)0.5 + x[col[k]][0];
      b = b * x[col[k]][1] + a;
    }
    y[i][0] = a, y[i][1] = b;
  }
}

KERNEL void sums(int n, const int *restrict ptr, const int *restrict col, const int *restrict w, int *restrict y) {
  for (int i = 0; i < n; ++i) {
    int s = i, most = -1000;
    for (int k = ptr[i]; k < ptr[i + 1]; ++k) {
      int v = w[col[k]] - w[i];
      s += v;
      most = v > most ? v : most;
    }
    y[i] = s ^ most;
  }
}

KERNEL void bits(int n, const int *restrict ptr, const int *restrict col, const unsigned *restrict w, unsigned *restrict y) {
  for (int i = 0; i < n; ++i) {
    unsigned any = 0, all = ~0u;
    for (int k = ptr[i]; k < ptr[i + 1]; ++k) {
      any |= w[col[k]];
      all &= w[k];
    }
    y[i] = any - all;
  }
}

KERNEL void nearest(int n, const int *restrict ptr, const int *restrict col, const TYPE *restrict x, int *restrict y) {
  for (int i = 0; i < n; ++i) {
    TYPE least = 9;
    int at = -1;
    for (int k = ptr[i]; k < ptr[i + 1]; ++k) {
      TYPE d = (x[col[k]] - x[i]) * (x[col[k]] - x[i]);
      if (d < least)
        least = d, at = k;
    }
    y[i] = at;
  }
}

KERNEL void alternating(int n, const int *restrict ptr, const TYPE *restrict val, TYPE *restrict y) {
  for (int i = 0; i < n; ++i) {
    TYPE s = 0, sign = 1;
    for (int k = ptr[i]; k < ptr[i + 1]; ++k) {
      s += sign * val[k];
      sign = -sign;
    }
    y[i] = s;
  }
}

/* What the last iteration left. */
KERNEL void behind(int n, const int *restrict ptr, const TYPE *restrict val, TYPE *restrict y) {
  for (int i = 0; i < n; ++i) {
    TYPE before = 0, change = 0;
    int last = 7;
    for (int k = ptr[i]; k < ptr[i + 1]; ++k) {
      change += val[k] - before;
      before = val[k];
      last = 3 * k;
    }
    y[i] = change * before + (TYPE)last;
  }
}

int main(int argc, char **argv) {
  static const int around[] = {0, 1, 7, 8, 9, 31, 32, 33, 127, 128, 129};
  int n = (int)example_arg(argc, argv, 1, 60), mean = (int)example_arg(argc, argv, 2, 12);
  size_t m = (size_t)n + 1, most = 0;
  int *ptr = malloc(m * sizeof *ptr);
  long *wide = malloc(m * sizeof *wide);
  ptr[0] = 0;
  for (int i = 0; i < n; ++i) {
    int length = (int)(example_bits() % (uint64_t)(2 * mean + 1));
    for (size_t k = i % 2 ? 0 : sizeof around / sizeof *around; k < sizeof around / sizeof *around; ++k)
      if ((uint64_t)i % 11 == k && around[k] <= 3 * mean)
        length = around[k];
    ptr[i + 1] = ptr[i] + length;
  }
  for (size_t i = 0; i < m; ++i)
    wide[i] = ptr[i];
  most = (size_t)ptr[n] + 1;
  int *col = malloc(most * sizeof *col), *numbers = malloc(m * sizeof *numbers), *weights = malloc((m + most) * sizeof *weights);
  TYPE *val = example_array(most), *x = example_array(2 * m), *y = example_array(2 * m);
  example_fill(val, most);
  example_fill(x, 2 * m);
  example_fill(y, 2 * m);
  for (size_t k = 0; k < most; ++k)
    col[k] = (int)(example_bits() % (uint64_t)(n > 0 ? n : 1));
  for (size_t k = 0; k < m + most; ++k)
    weights[k] = (int)(example_bits() % 1000);
  product(n, ptr, col, val, x, y);
  example_print("product", y, (size_t)n);
  scaled(n, (TYPE)1.5, (TYPE)0.25, wide, col, x, y);
  example_print("scaled", y, (size_t)n);
  pairs(n, ptr, col, (void *)x, (void *)y);
  example_print("pairs", y, 2 * (size_t)n);
  sums(n, ptr, col, weights, numbers);
  for (int i = 0; i < n; ++i)
    y[i] = (TYPE)numbers[i];
  example_print("sums", y, (size_t)n);
  bits(n, ptr, col, (const unsigned *)weights, (unsigned *)numbers);
  for (int i = 0; i < n; ++i)
    y[i] = (TYPE)numbers[i];
  example_print("bits", y, (size_t)n);
  nearest(n, ptr, col, x, numbers);
  for (int i = 0; i < n; ++i)
    y[i] = (TYPE)numbers[i];
  example_print("nearest", y, (size_t)n);
  alternating(n, ptr, val, y);
  example_print("alternating", y, (size_t)n);
  behind(n, ptr, val, y);
  example_print("behind", y, (size_t)n);
  return 0;
}
