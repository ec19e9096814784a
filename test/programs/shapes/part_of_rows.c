// The first columns of rows that are longer, changed in place: where a launch goes in slices, the rest of a slice's last row comes with the next slice.
// ARGS: 101
// ARGS: 0
// ARGS: 1
// ARGS: 1000
// OFFLOAD: yes
// KERNELS: spread
#include "example.h"

__attribute__((noinline)) static void spread(int n, TYPE C[restrict n][17]) {
  for (long i = 0; i < n; i++)
    for (long j = 1; j <= 3; j++)
      C[i][j] = C[i][j] + C[i][j - 1];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 101);
  TYPE *C = example_array((size_t)n * 17);
  example_fill(C, (size_t)n * 17);
  spread(n, (void *)C);
  example_print("C", C, (size_t)n * 17);
  return 0;
}
