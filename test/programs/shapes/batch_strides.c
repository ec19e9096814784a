// Products of many matrices whose distances are arguments, and strides for each dimension as arrays of numerical libraries have them.
// Distances that are no multiples of the rows, and such that let the matrices overlap, stay with the original loop.
// ARGS: 3 9 8 7 0
// ARGS: 0 0 0 0 0
// ARGS: 1 1 1 1 0
// ARGS: 4 5 33 6 1
// ARGS: 3 9 8 7 1
// OFFLOAD: partial
// FALLBACK: is a multiple of
// FALLBACK: stay inside its dimensions
#include "example.h"

__attribute__((noinline)) static void gemm(int b, int m, int n, int k, const double *A, long sA, const double *B, long sB,
                                           double *restrict C, long sC) {
  for (int q = 0; q < b; q++)
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) {
        double sum = C[q * sC + i * n + j];
        for (int p = 0; p < k; p++)
          sum += A[q * sA + i * k + p] * B[q * sB + p * n + j];
        C[q * sC + i * n + j] = sum;
      }
}

__attribute__((noinline)) static void strided(int a, int b, int c, long s0, long s1, long s2, double *A) {
  for (int i = 0; i < a; i++)
    for (int j = 0; j < b; j++)
      for (int k = 0; k < c; k++)
        A[i * s0 + j * s1 + k * s2] = A[i * s0 + j * s1 + k * s2] * 0.5 + i - j + k;
}

int main(int argc, char **argv) {
  int b = (int)example_arg(argc, argv, 1, 3), m = (int)example_arg(argc, argv, 2, 9), n = (int)example_arg(argc, argv, 3, 8);
  int k = (int)example_arg(argc, argv, 4, 7), odd = (int)example_arg(argc, argv, 5, 0);
  size_t count = (size_t)(b + 1) * (m + k + 2) * (n + k + 2) + 64;
  double *A = example_array(count), *B = example_array(count), *C = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  example_fill(C, count);
  /* With `odd`, gaps that are no whole rows. */
  gemm(b, m, n, k, A, (long)m * k + odd, B, (long)k * n + odd, C, (long)m * n + odd);
  example_print("C", C, count);
  /* One matrix for all, and results on top of each other. */
  gemm(b, m, n, k, A, 0, B, (long)k * n, C, (long)m * n);
  example_print("C", C, count);
  gemm(b, m, n, k, A, (long)m * k, B, 0, C, odd ? n : (long)m * n);
  example_print("C", C, count);
  strided(b, m, n, (long)m * n, n, 1, A);
  example_print("A", A, count);
  strided(b, m, n, (long)m * n + n, n, 1, A);
  example_print("A", A, count);
  /* The dimensions the other way round, rows that overlap, and all in one place. */
  strided(b, m, n, 1, b, (long)b * m, A);
  example_print("A", A, count);
  strided(b, m, n, (long)m, 1, 1, A);
  example_print("A", A, count);
  strided(b, m, n, 0, 0, 0, A);
  example_print("A", A, count);
  free(A);
  free(B);
  free(C);
  return 0;
}
