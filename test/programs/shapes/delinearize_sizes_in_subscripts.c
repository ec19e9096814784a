// Array sizes in subscripts (Grosser et al., ICS 2015, S1 to S5), which division by the size takes for the next row; and rows and columns
// backwards. A[1][1][1] is outside of a smaller array: two elements of the model in one of memory.
// ARGS: 3 8 9
// ARGS: 2 2 2
// ARGS: 12 1 30
// ARGS: 0 0 0
// ARGS: 12 30 1
// OFFLOAD: partial
// FALLBACK: stay inside its dimensions
#include "example.h"

__attribute__((noinline)) static void sizes(int rounds, int p, int n, int m, double A[p][n][m]) {
  for (int r = 0; r < rounds; r++) {
    for (int i = 0; i < p; i++)
      for (int j = 0; j < n; j++)
        for (int k = 0; k < m; k++)
          A[i][j][k] = A[i][j][k] * 0.5 + i - j + k;
    A[1][1][1] = 0.25 * r;
    A[0][0][m - 1] += 1;
    A[0][n - 1][0] += 2;
    A[0][n - 1][m - 1] += 3;
  }
}

__attribute__((noinline)) static void backwards(int n, int m, double A[n][m], double B[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      A[n - 1 - i][j] += B[i][m - 1 - j];
}

int main(int argc, char **argv) {
  int p = (int)example_arg(argc, argv, 1, 3), n = (int)example_arg(argc, argv, 2, 8), m = (int)example_arg(argc, argv, 3, 9);
  size_t count = (size_t)p * n * m;
  if (!count)
    return 0;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  sizes(4, p, n, m, (double(*)[n][m])A);
  example_print("A", A, count);
  backwards(p * n, m, (double(*)[m])A, (double(*)[m])B);
  example_print("A", A, count);
  free(A);
  free(B);
  return 0;
}
