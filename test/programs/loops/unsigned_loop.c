// Unsigned counters that run down past zero, and a difference that may wrap in a bound.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: any
#include "example.h"


__attribute__((noinline)) static void kernel(unsigned n, unsigned m, double *restrict A) {
  for (unsigned i = n; i-- > 0;)
    A[i] = A[i] * 0.5 + 1.0;
  for (unsigned i = n - 1; i < n; --i)
    A[i] += 2.0;
  if (m <= n)
    for (unsigned i = 0; i < n - m; ++i)
      A[i + m] -= 0.25;
  for (unsigned char c = 0; c < (unsigned char)n; ++c)
    A[c] *= 1.125;
}

int main(int argc, char **argv) {
  unsigned n = (unsigned)example_arg(argc, argv, 1, 33), m = (unsigned)example_arg(argc, argv, 2, 17);
  double *A = example_array(n);
  example_fill(A, n);
  kernel(n, m, A);
  example_print("A", A, n);
  return 0;
}
