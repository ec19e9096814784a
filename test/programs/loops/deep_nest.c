// Six loops around one statement.
// ARGS: 5
// ARGS: 0
// ARGS: 1
// ARGS: 2
// OFFLOAD: yes
// KERNELS: kernel
#include "example.h"


__attribute__((noinline)) static void kernel(int n, double A[n][n][n], double B[n][n][n]) {
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b)
      for (int c = 0; c < n; ++c)
        for (int d = 0; d < n; ++d)
          for (int e = 0; e < n; ++e)
            for (int f = 0; f < n; ++f)
              A[a][b][c] += B[a][d][f] * B[e][b][c];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 5);
  size_t count = (size_t)n * n * n;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  if (n > 0)
    kernel(n, (double(*)[n][n])A, (double(*)[n][n])B);
  example_print("A", A, count);
  return 0;
}
