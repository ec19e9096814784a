// What breaks an array shape at run time: rows longer than their distance, a negative distance, products that overflow 32 bits, two
// views of the same memory. All of it is defined behaviour and stays with the original loop.
// ARGS: 33 17
// ARGS: 5 6
// ARGS: 31 65
// OFFLOAD: partial
// FALLBACK: stay inside its dimensions
// FALLBACK: an index of 32 bits does not wrap
// FALLBACK: overlap
// STAYS: narrow: its rows have a negative length
// STAYS: narrow_three: its index wraps
#include "example.h"

/* Row i is used up to column `used`; what is beyond `m` is the next row's, and carries values on. */
__attribute__((noinline)) static void rows(long n, long m, long used, double *A) {
  for (long i = 1; i < n; ++i)
    for (long j = 0; j < used; ++j)
      A[i * m + j] = A[i * m + j] * 0.5 + A[(i - 1) * m + j];
}

/* The product of 32 bits wraps around: 2^31 * 2 * i is 0. */
__attribute__((noinline)) static void narrow(unsigned n, unsigned m, unsigned used, unsigned step, double *A) {
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < used; ++j)
      A[i * step * m + j] += (double)i - j;
}

/* 65536 * 65536 * i is 0, too. */
__attribute__((noinline)) static void narrow_three(unsigned n, unsigned m, unsigned k, unsigned used, double *A) {
  for (unsigned i = 0; i < n; ++i)
    for (unsigned l = 0; l < used; ++l)
      A[(i * m + 0) * k + l] = A[(i * m + 0) * k + l] * 0.5 + i;
}

/* The same memory as n rows and as m. */
__attribute__((noinline)) static void views(int n, int m, double A[n][m], double B[m][n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      A[i][j] = A[i][j] * 0.5 + B[j][i];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(3 * count);
  example_fill(A, 3 * count);
  rows(n, m, m, A);
  example_print("A", A, 3 * count);
  rows(n, m, m + 1, A);
  example_print("A", A, 3 * count);
  rows(n, m / 2, 2 * m, A);
  example_print("A", A, 3 * count);
  rows(n, -m, m, A + count);
  example_print("A", A, 3 * count);
  rows(n, 0, m, A);
  example_print("A", A, 3 * count);
  narrow(n, m, m, 1, A);
  example_print("A", A, 3 * count);
  narrow(n, 0x80000000u, m, 2, A);
  example_print("A", A, 3 * count);
  narrow_three(n, 65536, 65536, m, A);
  example_print("A", A, 3 * count);
  views(n, m, (double(*)[m])A, (double(*)[n])(A + count));
  example_print("A", A, 3 * count);
  views(n, m, (double(*)[m])A, (double(*)[n])A);
  example_print("A", A, 3 * count);
  free(A);
  return 0;
}
