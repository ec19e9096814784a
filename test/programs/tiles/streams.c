// Long sums in few threads: rows and columns of matrices go through shared memory, one matrix or two at a time, with sizes on both
// sides of where that starts, rests of strips and of blocks, and a sum that starts from a value and is used behind the loop.
// ARGS: 300 520
// ARGS: 0 0
// ARGS: 1 700
// ARGS: 700 1
// ARGS: 33 255
// ARGS: 31 256
// ARGS: 257 385
// ARGS: 4300 270
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void rows(int n, int m, double A[n][m], double B[n][m], double *x, double *y) {
  for (int i = 0; i < n; ++i) {
    double a = 0.25, b = y[i];
    for (int j = 0; j < m; ++j) {
      a += A[i][j] * x[j];
      b += B[i][j] * x[j];
    }
    y[i] = 1.5 * a - b;
  }
}

__attribute__((noinline)) static void columns(int n, int m, double A[n][m], double *x, double *y) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      y[j] += A[i][j] * x[i];
}

/* The strip of one row ends before the matrix does. */
__attribute__((noinline)) static void inner(int n, int m, double A[n][m], double *x, double *y) {
  for (int i = 1; i < n - 1; ++i)
    for (int j = 3; j < m - 2; ++j)
      y[i] = y[i] * 0.5 + A[i][j] * x[j - 1];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 300), m = (int)example_arg(argc, argv, 2, 520);
  size_t count = (size_t)n * m;
  double *A = example_array(count), *B = example_array(count), *x = example_array(m), *y = example_array(n), *z = example_array(m);
  example_fill(A, count);
  example_fill(B, count);
  example_fill(x, m);
  example_fill(y, n);
  example_fill(z, m);
  if (count) {
    rows(n, m, (double(*)[m])A, (double(*)[m])B, x, y);
    columns(n, m, (double(*)[m])A, y, z);
    inner(n, m, (double(*)[m])B, z, y);
  }
  example_print("y", y, n);
  example_print("z", z, m);
  free(A);
  free(B);
  free(x);
  free(y);
  free(z);
  return 0;
}
