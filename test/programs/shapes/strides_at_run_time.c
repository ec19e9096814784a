// Row strides larger than the rows, as image libraries pass them; step sizes that are arguments.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: partial
#include "example.h"


__attribute__((noinline)) static void kernel(int n, int m, long pitch_a, long pitch_b, int step, double *restrict A,
                                             const double *restrict B) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      A[i * pitch_a + j] += B[i * pitch_b + j] * 0.5;
  for (int i = 0; i < n; i += step)
    A[i * pitch_a] += 1.0;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  long pa = m + 5, pb = m + 2;
  double *A = example_array((size_t)(n * pa)), *B = example_array((size_t)(n * pb));
  example_fill(A, (size_t)(n * pa));
  example_fill(B, (size_t)(n * pb));
  kernel(n, m, pa, pb, 3, A, B);
  /* A pitch smaller than the row: rows of B overlap, which is only read. */
  if (m > 3)
    kernel(n, m, pa, 3, 2, A, B);
  /* A's rows overlap: each row adds to parts of the one before. */
  if (m > 3)
    kernel(n, m, 3, pb, 1, A, B);
  example_print("A", A, (size_t)(n * pa));
  return 0;
}
