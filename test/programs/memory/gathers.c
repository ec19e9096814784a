// Elements whose numbers lie in memory, which is inspected before each execution: numbers of 32 and 64 bits, signed and unsigned, with arithmetic, of rows, of corners
// of elements, of other numbers, in structures, behind conditions, and numbers that change between steps.
// ARGS: 333
// ARGS: 0
// ARGS: 1
// OFFLOAD: yes
// KERNELS: plain wide natural scaled rows corners twice itself members guarded filtered natural_filtered repeated
#include "example.h"
#include <string.h>

#define KERNEL __attribute__((noinline)) static

typedef struct {
  int first, count;
  int near[6];
} Box;

KERNEL void plain(int n, const int *restrict at, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i)
    y[i] = 2 * x[at[i]];
}

KERNEL void wide(long n, const long *at, const TYPE *x, TYPE *y) {
  for (long i = 0; i < n; ++i)
    y[i] = x[at[i]] - 1;
}

KERNEL void natural(unsigned n, const unsigned *at, const TYPE *x, TYPE *y) {
  for (unsigned i = 0; i < n; ++i)
    y[i] = x[at[i]] + 1;
}

KERNEL void scaled(int n, int d, const int *at, const TYPE *x, TYPE *y) {
  for (int i = 0; i < n; ++i)
    y[i] = x[at[i] * 3 + d];
}

KERNEL void rows(int n, int m, const int *restrict up, const int *restrict down, const TYPE *restrict u, TYPE *restrict d) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      d[i * m + j] = u[up[i] * m + j] + u[down[i] * m + j] - 2 * u[i * m + j];
}

KERNEL void corners(int n, const int *restrict nodes, const TYPE *restrict x, const TYPE *restrict p, TYPE *restrict out) {
  for (int e = 0; e < n; ++e) {
    TYPE c[8], s = 0;
    for (int k = 0; k < 8; ++k)
      c[k] = x[nodes[8 * e + k]];
    for (int k = 0; k < 8; ++k)
      s += c[k] * p[e];
    out[e] = s / 8;
  }
}

KERNEL void twice(int n, const int *restrict a, const int *restrict b, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i)
    y[i] = x[a[b[i]]];
}

KERNEL void itself(int n, const int *restrict a, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i)
    y[i] = x[a[a[i]]];
}

KERNEL void members(int n, const Box *restrict b, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i) {
    TYPE s = x[b[i].first];
    for (int k = 0; k < 6; ++k)
      s += x[b[i].near[k]] * b[i].count;
    y[i] = s;
  }
}

KERNEL void guarded(int n, const int *restrict at, const TYPE *restrict x, TYPE *restrict y) {
  for (int i = 0; i < n; ++i)
    if (at[i] >= 0)
      y[i] = x[at[i]];
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

/* The numbers change between steps, and are inspected again. */
KERNEL void repeated(int n, int steps, int *restrict at, const TYPE *restrict x, TYPE *restrict y) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i)
      y[i] += x[at[i]];
    for (int i = 0; i < n; ++i)
      at[i] = (at[i] * 5 + t) & 15;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333);
  size_t m = (size_t)n + 16;
  TYPE *block = example_array(12 * m), *x = block + m, *y = block + 2 * m, *u = block + 3 * m, *d = example_array(8 * m), *w = example_array(m);
  int *at = malloc(9 * m * sizeof *at), *b = malloc(m * sizeof *b), *up = malloc(m * sizeof *up);
  long *wide_at = malloc(m * sizeof *wide_at);
  Box *boxes = calloc(m, sizeof *boxes);
  example_fill(block, 12 * m);
  example_fill(d, 8 * m);
  example_fill(w, m);
  for (size_t i = 0; i < 9 * m; ++i)
    at[i] = n ? (int)(example_bits() % (uint64_t)n) : 0;
  for (size_t i = 0; i < m; ++i) {
    b[i] = n ? (int)(example_bits() % (uint64_t)n) : 0;
    up[i] = i ? (int)i - 1 : 0;
    wide_at[i] = at[i];
    w[i] -= (TYPE)0.5;
    boxes[i].first = at[i];
    boxes[i].count = 1000000 + (int)i;
    memcpy(boxes[i].near, at + 6 * i, sizeof boxes[i].near);
  }
  plain(n, at, x, y);
  example_print("plain", y, (size_t)n);
  wide(n, wide_at, x, y);
  example_print("wide", y, (size_t)n);
  natural((unsigned)n, (unsigned *)at, x, y);
  example_print("natural", y, (size_t)n);
  scaled(n, 2, at, u, y);
  example_print("scaled", y, (size_t)n);
  rows(n, 7, up, b, u, d);
  example_print("rows", d, 7 * (size_t)n);
  corners(n, at, x, w, y);
  example_print("corners", y, (size_t)n);
  twice(n, at, b, x, y);
  example_print("twice", y, (size_t)n);
  itself(n, at, x, y);
  example_print("itself", y, (size_t)n);
  members(n, boxes, x, y);
  example_print("members", y, (size_t)n);
  filtered(n, w, at, x, y);
  example_print("filtered", y, (size_t)n);
  natural_filtered((unsigned)n, w, (unsigned *)at, x, y);
  example_print("natural filtered", y, (size_t)n);
  for (int i = 0; i < n; i += 3)
    b[i] = -b[i];
  guarded(n, b, x, y);
  example_print("guarded", y, (size_t)n);
  repeated(n, 5, up, x, d);
  example_print("repeated", d, (size_t)n);
  return 0;
}
