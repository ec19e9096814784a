// Rows are overwritten in place after later rows have been read as they were, twice over, and the array stays on the device in between: what
// the reads go to is a copy of what the device has.
// ARGS: 33 17
// ARGS: 2 3
// ARGS: 65 31
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void upper(int n, int m, double L[restrict n][n], double B[restrict n][m]) {
  for (int r = 0; r < 3; r++) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) {
        for (int k = i + 1; k < n; ++k)
          B[i][j] += L[k][i] * B[k][j];
        B[i][j] = 0.75 * B[i][j];
      }
    if (example_bits() == 77)
      printf("%g\n", B[0][0]);
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  double *L = example_array((size_t)n * n), *B = example_array((size_t)n * m);
  example_fill(L, (size_t)n * n);
  example_fill(B, (size_t)n * m);
  upper(n, m, (double(*)[n])L, (double(*)[m])B);
  example_print("B", B, (size_t)n * m);
  free(L);
  free(B);
  return 0;
}
