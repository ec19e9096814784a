// A recursive function whose leaves hold the loops.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
// KERNELS: quarters
#include "example.h"

__attribute__((noinline)) static void quarters(int n, int m, double A[n][m], double B[n][m], int low, int high) {
  if (high - low > 8) {
    int middle = low + (high - low) / 2;
    quarters(n, m, A, B, low, middle);
    quarters(n, m, A, B, middle, high);
    return;
  }
  for (int i = low; i < high; ++i)
    for (int j = 0; j < m; ++j)
      A[i][j] += B[i][j] * (double)(i - low);
}

static void kernel(int n, int m, double A[n][m], double B[n][m]) { quarters(n, m, A, B, 0, n); }

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  if (count)
    kernel(n, m, (double(*)[m])A, (double(*)[m])B);
  example_print("A", A, count);
  example_print("B", B, count);
  free(A);
  free(B);
  return 0;
}
