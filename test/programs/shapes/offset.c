// A row offset known at run time only; both signs.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
// KERNELS: shift
#include "example.h"

__attribute__((noinline)) static void shift(int n, int m, int by, double A[n][m], double B[n][m]) {
  int low = by < 0 ? -by : 0, high = by > 0 ? n - by : n;
  for (int i = low; i < high; ++i)
    for (int j = 0; j < m; ++j)
      A[i + by][j] = A[i][j] + B[i][j];
}

static void kernel(int n, int m, double A[n][m], double B[n][m]) {
  shift(n, m, 1, A, B);
  shift(n, m, -1, A, B);
  shift(n, m, 0, A, B);
  shift(n, m, n / 2, A, B);
}

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
