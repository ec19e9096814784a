// Unsigned 32-bit index arithmetic, once with a start that wraps around.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: any
#include "example.h"


__attribute__((noinline)) static void kernel(unsigned n, unsigned m, unsigned start, double *restrict A,
                                             const double *restrict B) {
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < m; ++j)
      A[start + i * m + j] += B[i * m + j];
}

int main(int argc, char **argv) {
  unsigned n = (unsigned)example_arg(argc, argv, 1, 33), m = (unsigned)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  kernel(n, m, 0, A, B);
  /* The last row again, through the start. */
  if (n > 0)
    kernel(1, m, (n - 1) * m, A, B);
  /* The sum wraps around 2^32 to 0 at i = 1. */
  for (unsigned i = 1; i < n; ++i)
    for (unsigned j = 0; j < m; ++j)
      A[(unsigned)(0u - m) + i * m + j] *= 0.5;
  example_print("A", A, count);
  return 0;
}
