// Indices of 16 bits, unsigned: each size up to 65536 elements runs on the device, the next one wraps and stays with the original loop.
// ARGS: 33 17 5 3
// ARGS: 0 0 0 0
// ARGS: 256 1 256 1
// ARGS: 3 7 1040 3
// ARGS: 3 7 1041 3
// ARGS: 1 65535 1 1
// ARGS: 1 2 32768 1
// ARGS: 20000 1 1 3
// ARGS: 1 1 65537 1
// OFFLOAD: partial
// FALLBACK: an index of 16 bits does not wrap
#include "example.h"

/* Mathematically below 65536, or wrapped: the same elements either way. */
__attribute__((noinline)) static void in_three(int n, int m, int k, double *restrict A, const double *restrict B) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int l = 0; l < k; ++l)
        A[(uint16_t)((i * m + j) * k + l)] = B[(uint16_t)((l * m + j) * n + i)] * 0.5 + i;
}

__attribute__((noinline)) static void in_four(int n, int m, int k, int o, double *restrict A, const double *restrict B) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int l = 0; l < k; ++l)
        for (int q = 0; q < o; ++q)
          A[(uint16_t)(((i * m + j) * k + l) * o + q)] += B[(uint16_t)(((i * k + l) * o + q) * m + j)];
}

/* The rows backwards: a subtraction. */
__attribute__((noinline)) static void reversed(int n, int m, double *restrict A, const double *restrict B) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      A[(uint16_t)((n - 1 - i) * m + j)] -= B[(uint16_t)(i * m + (m - 1 - j))];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  int k = (int)example_arg(argc, argv, 3, 5), o = (int)example_arg(argc, argv, 4, 3);
  double *A = example_array(65536), *B = example_array(65536);
  example_fill(A, 65536);
  example_fill(B, 65536);
  in_three(n, m, k, A, B);
  example_print("A", A, 65536);
  in_four(n, m, k, o, A, B);
  example_print("A", A, 65536);
  reversed(n, m * k, A, B);
  example_print("A", A, 65536);
  free(A);
  free(B);
  return 0;
}
