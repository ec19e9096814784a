// A function called many times with changing sizes: caches and pools must follow.
// ARGS: 40
// OFFLOAD: yes
// KERNELS: kernel
#include "example.h"


__attribute__((noinline)) static void kernel(int n, int m, double *restrict A, const double *restrict B) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      A[i * m + j] += B[j * n + i] * 0.5;
}

int main(int argc, char **argv) {
  int calls = (int)example_arg(argc, argv, 1, 40);
  double *A = example_array(50 * 50), *B = example_array(50 * 50);
  example_fill(A, 50 * 50);
  example_fill(B, 50 * 50);
  for (int c = 0; c < calls; ++c)
    kernel((int)(example_bits() % 50), (int)(example_bits() % 50), c % 2 ? A : B, c % 2 ? B : A);
  example_print("A", A, 50 * 50);
  example_print("B", B, 50 * 50);
  return 0;
}
