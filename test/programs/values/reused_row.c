// A row that every iteration fills anew and reads: on the device each iteration has its own, and the last one comes back. The second
// nest's last iterations fill only a part of the row, so that elements come back from different iterations.
// ARGS: 9 7 33
// ARGS: 0 3 5
// ARGS: 1 1 1
// ARGS: 2 1 65
// ARGS: 3 5 2
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void products(int r, int q, int p, double A[r][q][p], double C[p][p], double *row) {
  for (int i = 0; i < r; ++i)
    for (int j = 0; j < q; ++j) {
      for (int k = 0; k < p; ++k) {
        row[k] = 0;
        for (int l = 0; l < p; ++l)
          row[k] += A[i][j][l] * C[l][k];
      }
      for (int k = 0; k < p; ++k)
        A[i][j][k] = row[k];
    }
}

__attribute__((noinline)) static void shrinking(int r, int p, double A[r][p], double *row) {
  for (int i = 0; i < r; ++i) {
    for (int k = 0; k < p - i; ++k)
      row[k] = A[i][k] * 1.5;
    for (int k = 0; k < p - i; ++k)
      A[i][k] = row[k] + row[p - i - 1 - k];
  }
}

int main(int argc, char **argv) {
  int r = (int)example_arg(argc, argv, 1, 9), q = (int)example_arg(argc, argv, 2, 7), p = (int)example_arg(argc, argv, 3, 33);
  size_t count = (size_t)r * q * p;
  double *A = example_array(count), *C = example_array((size_t)p * p), *row = example_array(p), *other = example_array(p);
  example_fill(A, count);
  example_fill(C, (size_t)p * p);
  example_fill(row, p);
  example_fill(other, p);
  if (count) {
    products(r, q, p, (double(*)[q][p])A, (double(*)[p])C, row);
    shrinking(r, p, (double(*)[p])A, other);
  }
  example_print("A", A, count);
  example_print("row", row, p);
  example_print("other", other, p);
  free(A);
  free(C);
  free(row);
  free(other);
  return 0;
}
