// Bounds of rows that are never used reach into other arrays, which the host and other loops change between the executions: what is the matrix's own stays on the device, and nothing else
// is believed.
// ARGS: 200 6
// ARGS: 1 2
// ARGS: 64 1
// OFFLOAD: partial
// FALLBACK: overlap
// KERNELS: host_writes both
#include "example.h"

#define KERNEL __attribute__((noinline)) static

/* Behind the columns lie the numbers that the host changes. */
KERNEL void host_writes(int n, int steps, const int *restrict first, const int *restrict last, const int *restrict col, const TYPE *restrict x, int *restrict behind, TYPE *restrict y) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i) {
      TYPE s = y[i] / 2;
      for (int k = first[i]; k < last[i]; ++k)
        s += x[col[k] & 255];
      y[i] = s;
    }
    behind[t * t % 40] += t + 3;
    for (int i = 0; i < n; ++i)
      y[i] += (TYPE)behind[i % 40];
  }
}

/* As well, and a loop of the same SCoP changes them: where the ranges meet, the original runs. */
KERNEL void device_writes(int n, int steps, const int *restrict first, const int *restrict last, const int *restrict col, const TYPE *restrict x, int *restrict behind, TYPE *restrict y) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < 40; ++i)
      behind[i] = behind[i] * 3 + t;
    for (int i = 0; i < n; ++i) {
      TYPE s = y[i] / 2;
      for (int k = first[i]; k < last[i]; ++k)
        s += x[col[k] & 255];
      y[i] = s;
    }
    for (int i = 0; i < 40; ++i)
      y[i % n] += (TYPE)(behind[i] & 7);
  }
}

/* The host changes the columns as well, and elements behind them are chosen by data. */
KERNEL void both(int n, int steps, const int *restrict first, const int *restrict last, int *restrict col, const TYPE *restrict x, int *restrict behind, TYPE *restrict y) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i) {
      TYPE s = y[i] / 2;
      for (int k = first[i]; k < last[i]; ++k)
        s += x[col[k] & 255];
      y[i] = s;
    }
    if (t % 2)
      col[t * t % 3] += 5;
    behind[t * t % 32] = t;
    for (int i = 0; i < n; ++i)
      y[i] += (TYPE)behind[last[i] & 31];
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 200), steps = (int)example_arg(argc, argv, 2, 6), m = 3 * n;
  int *first = malloc((size_t)n * sizeof *first), *last = malloc((size_t)n * sizeof *last), *block = malloc(((size_t)m + 100) * sizeof *block);
  TYPE *x = example_array(256), *y = example_array((size_t)n);
  example_fill(x, 256);
  for (int i = 0; i < m + 100; ++i)
    block[i] = (int)(example_bits() % 1000);
  for (int i = 0; i < n; ++i)
    first[i] = 3 * i, last[i] = 3 * i + 1 + i % 3;
  for (int round = 0; round < 2; ++round) {
    example_fill(y, (size_t)n);
    host_writes(n, steps, first, last, block, x, block + m, y);
    example_print("host", y, (size_t)n);
    device_writes(n, steps, first, last, block, x, block + m, y);
    example_print("device", y, (size_t)n);
    both(n, steps, first, last, block, x, block + m, y);
    example_print("both", y, (size_t)n);
    /* A row without elements, whose bounds are far behind the columns. */
    first[n / 2] = m + 80, last[n / 2] = m + 60;
  }
  return 0;
}
