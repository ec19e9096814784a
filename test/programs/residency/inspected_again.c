// Lists that stay as they are in a time loop are inspected once; they are inspected again after the host, another loop nest or a called function changed them, and where
// they are on the device alone.
// ARGS: 300 7
// ARGS: 1 2
// ARGS: 40 1
// OFFLOAD: yes
// INSPECTED: 8
// KERNELS: same_list host_changes device_changes sparse_steps
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void same_list(int n, int steps, const int *restrict at, TYPE *restrict x, TYPE *restrict y) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i)
      y[i] = x[at[i]] + (TYPE)0.25;
    for (int i = 0; i < n; ++i)
      x[i] = y[i] / 2;
  }
}

KERNEL void host_changes(int n, int steps, int *restrict at, TYPE *restrict x, TYPE *restrict y) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i)
      y[i] = x[at[i]] + (TYPE)0.25;
    if (t % 3 == 1)
      at[t % n] = n - 1 + 2 * n;
    for (int i = 0; i < n; ++i)
      x[i] = y[i] / 2;
  }
}

KERNEL void device_changes(int n, int steps, int *restrict at, TYPE *restrict x, TYPE *restrict y) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i)
      y[i] = x[at[i]] + (TYPE)0.25;
    for (int i = 0; i < n; ++i)
      x[i] = y[i] / 2;
    if (t % 2)
      for (int i = 0; i < n; ++i)
        at[i] = (at[i] * 3 + t) & 255;
  }
}

KERNEL void sparse_steps(int n, int steps, const int *restrict ptr, const int *restrict col, const TYPE *restrict val, TYPE *restrict x, TYPE *restrict y) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i) {
      TYPE s = 0;
      for (int k = ptr[i]; k < ptr[i + 1]; ++k)
        s += val[k] * x[col[k]];
      y[i] = s;
    }
    for (int i = 0; i < n; ++i)
      x[i] = (x[i] + y[i]) / 4;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 300), steps = (int)example_arg(argc, argv, 2, 7);
  size_t m = 3 * (size_t)n + 256;
  int *at = malloc(m * sizeof *at), *ptr = malloc(m * sizeof *ptr), *col = malloc(4 * m * sizeof *col);
  TYPE *x = example_array(m), *y = example_array(m), *val = example_array(4 * m);
  example_fill(x, m);
  example_fill(val, 4 * m);
  for (size_t i = 0; i < m; ++i) {
    at[i] = (int)(example_bits() % (uint64_t)n);
    ptr[i] = 4 * (int)i - (int)(i % 3);
  }
  for (size_t k = 0; k < 4 * m; ++k)
    col[k] = (int)(example_bits() % (uint64_t)n);
  ptr[0] = 0;
  same_list(n, steps, at, x, y);
  example_print("same list", x, m);
  host_changes(n, steps, at, x, y);
  example_print("host changes", x, m);
  device_changes(n, steps, at, x, y);
  example_print("device changes", x, m);
  sparse_steps(n, steps, ptr, col, val, x, y);
  example_print("sparse steps", x, m);
  return 0;
}
