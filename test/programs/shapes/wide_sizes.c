// 64-bit sizes and counters, signed and unsigned.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
#include "example.h"


__attribute__((noinline)) static void kernel(size_t n, size_t m, double *restrict A, const double *restrict B) {
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < m; ++j)
      A[i * m + j] = A[i * m + j] * 0.75 + B[i * m + j];
}

__attribute__((noinline)) static void kernel_signed(int64_t n, int64_t m, double *restrict A, const double *restrict B) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j)
      A[i * m + j] += B[i * m + j];
}

int main(int argc, char **argv) {
  size_t n = (size_t)example_arg(argc, argv, 1, 33), m = (size_t)example_arg(argc, argv, 2, 17);
  double *A = example_array(n * m), *B = example_array(n * m);
  example_fill(A, n * m);
  example_fill(B, n * m);
  kernel(n, m, A, B);
  kernel_signed((int64_t)n, (int64_t)m, A, B);
  example_print("A", A, n * m);
  return 0;
}
