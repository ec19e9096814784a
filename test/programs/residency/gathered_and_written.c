// A vector that a loop nest gathers from and another one of the same SCoP writes as a whole stays on the device, as its least and largest place are inside of what is written; it goes there
// and back each time where they are not.
// ARGS: 200 5
// ARGS: 1 3
// ARGS: 65 2
// OFFLOAD: yes
// MOVED: 22464 9604
// INSPECTED: 2
// KERNELS: steps
#include "example.h"

__attribute__((noinline)) static void steps(int n, int most, const int *restrict ptr, const int *restrict col, const int *restrict val, int *restrict p, int *restrict q, int *restrict seen) {
  for (int t = 0; t < most; ++t) {
    for (int i = 0; i < n; ++i) {
      int s = 0;
      for (int k = ptr[i]; k < ptr[i + 1]; ++k)
        s += val[k] * p[col[k]];
      q[i] = s;
    }
    for (int i = 0; i < n; ++i)
      p[i] = (q[i] ^ p[i]) & 1023;
    seen[t * t % 8] += t;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 200), most = (int)example_arg(argc, argv, 2, 5), m = 4 * n;
  int *ptr = malloc(((size_t)n + 1) * sizeof *ptr), *col = malloc((size_t)m * sizeof *col), *val = malloc((size_t)m * sizeof *val);
  int *p = malloc(2 * (size_t)n * sizeof *p), *q = malloc((size_t)n * sizeof *q), seen[8] = {0};
  for (int i = 0; i <= n; ++i)
    ptr[i] = 4 * i;
  for (int i = 0; i < 2 * n; ++i)
    p[i] = (int)(example_bits() % 1000);
  for (int k = 0; k < m; ++k) {
    col[k] = (int)(example_bits() % (unsigned)n);
    val[k] = (int)(example_bits() % 50);
  }
  TYPE *out = example_array((size_t)n);
  for (int round = 0; round < 2; ++round) {
    steps(n, most, ptr, col, val, p, q, seen);
    for (int i = 0; i < n; ++i)
      out[i] = (TYPE)(p[i] + seen[i % 8]);
    example_print("p", out, (size_t)n);
    /* Beyond what is written, in the same array. */
    col[m / 2] = 2 * n - 1;
  }
  return 0;
}
