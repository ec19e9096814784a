// 32-bit products that stay in range, in 64-bit subscripts and the other way around.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: any
#include "example.h"


__attribute__((noinline)) static void kernel(short n, unsigned short m, double *restrict A, const double *restrict B) {
  for (short i = 0; i < n; ++i)
    for (unsigned short j = 0; j < m; ++j)
      A[i * m + j] += B[(long)j * n + i];
}

int main(int argc, char **argv) {
  short n = (short)example_arg(argc, argv, 1, 33);
  unsigned short m = (unsigned short)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  kernel(n, m, A, B);
  example_print("A", A, count);
  return 0;
}
