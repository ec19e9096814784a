// A sum over all elements in a scalar that leaves the loop: the order of additions counts.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
// KERNELS: kernel pointers
#include "example.h"

__attribute__((noinline)) static void kernel(int n, int m, double A[n][m], double B[n][m]) {
  double sum = 0.0, largest = -1e30;
  int last = -1;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      sum += A[i][j];
      largest = A[i][j] > largest ? A[i][j] : largest;
      last = i * 1000 + j;
    }
  printf("%.17g %.17g %d\n", sum, largest, last);
  B[0][0] = sum;
}

// Sums of integers behind running pointers, in nested loops, and the value of the update before the last.
__attribute__((noinline)) static void pointers(int n, int m, const double *A) {
  const unsigned *x = (const unsigned *)A, *end = x + 2 * (size_t)n * m;
  unsigned sum = 7, bits = 0, product = 1, before = 0;
  do
    sum += *x * 3u, bits ^= *x >> 3;
  while (++x != end);
  x -= m;
  for (unsigned s = 1; x != end; ++x) {
    before = s;
    s = s * 5u + *x;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      product *= 2u * ((const unsigned *)A)[2 * ((size_t)i * m + j)] + 1u;
  printf("%u %u %u %u\n", sum, bits, product, before);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  if (count)
    kernel(n, m, (double(*)[m])A, (double(*)[m])B), pointers(n, m, A);
  example_print("A", A, count);
  example_print("B", B, count);
  free(A);
  free(B);
  return 0;
}
