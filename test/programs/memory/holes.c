// A loop that writes few elements of an array; the others keep what another thread of control put there.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
// KERNELS: kernel
#include "example.h"


__attribute__((noinline)) static void kernel(int n, int m, double A[n][m]) {
  for (int i = 1; i < n; i += 3)
    for (int j = 2; j < m; j += 5)
      A[i][j] = (double)(i * m + j);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(count);
  for (int pass = 0; pass < 3; ++pass) {
    example_fill(A, count);
    if (count)
      kernel(n, m, (double(*)[m])A);
    example_print("A", A, count);
  }
  return 0;
}
