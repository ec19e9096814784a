// A subscript n - i beside the row's own, which may leave the row: its subscripts are pieces, one for each row it can be in.
// ARGS: 5 4
// ARGS: 33 32
// ARGS: 8 3
// ARGS: 1 0
// ARGS: 0 0
// OFFLOAD: partial
// KERNELS: mirror
#include "example.h"

__attribute__((noinline)) static void mirror(int n, long last, double C[restrict n][n]) {
  for (int i = 1; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      C[i][j] = C[i][j] * 0.5 + (double)j;
    C[i][0] = C[i][last - i];
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 9);
  long last = example_arg(argc, argv, 2, 8);
  double *C = example_array((size_t)n * n + 64);
  example_fill(C, (size_t)n * n + 64);
  mirror(n, last, (double(*)[n])(void *)C);
  example_print("C", C, (size_t)n * n + 64);
  free(C);
  return 0;
}
