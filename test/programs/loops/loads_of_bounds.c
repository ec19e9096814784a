// A bound in memory: outside of the arrays, and inside of one that the loop writes.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: partial
// KERNELS: scale rows
// STAYS: count_down: it changes its own bound
#include "example.h"

__attribute__((noinline)) static void scale(double *a, const int *n) {
  for (int i = 0; i < *n; ++i)
    a[i] *= 1.5;
}

__attribute__((noinline)) static void count_down(int *a, const int *n) {
  for (int i = 0; i < *n; ++i)
    a[i] = 3;
}

// One bound is read under a condition (that there are rows) and without.
__attribute__((noinline)) static void rows(const int *n, int m, int steps, double *A, double *B) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < m; i += 3)
      for (int j = 0; j != *n; ++j)
        A[i * *n + j] += 0.5 * i;
    for (int j = 4; j < *n; ++j)
      B[j] = j * 0.25 + t;
  }
}

static void kernel(int n, int m, double A[n][m], double B[n][m]) {
  int size = n * m;
  scale(&A[0][0], &size);
  int small[16] = {9, 9, 9, 9, 9, 14, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
  count_down(small, &small[5]);
  for (int i = 0; i < 16; ++i)
    printf("%d ", small[i]);
  printf("\n");
  rows(&m, n, 3, &A[0][0], &B[0][0]);
  B[0][0] = A[0][0];
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
