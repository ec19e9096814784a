// An array is overwritten row by row after later rows have been read as they were: the reads go to a copy on the device. Beside it, an
// update whose reads see values of the loop nest, which must not.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 65 31
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void upper(int n, int m, double L[n][n], double B[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      for (int k = i + 1; k < n; ++k)
        B[i][j] += L[k][i] * B[k][j];
      B[i][j] = 0.75 * B[i][j];
    }
}

/* Both the row as it was (i + 1) and the row as it is (i - 1). */
__attribute__((noinline)) static void both(int n, int m, double B[n][m]) {
  for (int i = 1; i < n - 1; ++i)
    for (int j = 0; j < m; ++j)
      B[i][j] = 0.5 * B[i - 1][j] + 0.25 * B[i + 1][j] + 0.125 * B[i][j];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  double *L = example_array((size_t)n * n), *B = example_array((size_t)n * m);
  example_fill(L, (size_t)n * n);
  example_fill(B, (size_t)n * m);
  if (n && m) {
    upper(n, m, (double(*)[n])L, (double(*)[m])B);
    both(n, m, (double(*)[m])B);
  }
  example_print("B", B, (size_t)n * m);
  free(L);
  free(B);
  return 0;
}
