// Sizes below zero: no iteration, and no shape to assume.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
// KERNELS: kernel
#include "example.h"


__attribute__((noinline)) static void kernel(int n, int m, double *A) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      A[i * m + j] += (double)(i + j);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 9), m = (int)example_arg(argc, argv, 2, 7);
  double *A = example_array((size_t)n * m);
  example_fill(A, (size_t)n * m);
  kernel(-n, m, A);
  kernel(n, -m, A);
  kernel(-n, -m, A);
  kernel(n, m, A);
  example_print("A", A, (size_t)n * m);
  return 0;
}
