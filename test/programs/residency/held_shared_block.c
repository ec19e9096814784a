// Two arrays in one block of memory, of which each execution changes some elements: what the device has of both is compared with one copy of what
// was there, which goes when too many results wait for their return, and not between the two.
// ARGS: 17 15 3 17
// ARGS: 40 22 2 31
// ARGS: 3 9 1 5
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void row(unsigned i, int *m, double *A, double *B) {
  for (unsigned j = 2; j < *m - 1; j += 3) {
    B[i * *m + j] = A[(size_t)i * *m + (j - 2)] * 0.275 - j * 0.009;
    A[(size_t)i * *m + j] = B[(size_t)i * *m + j] * B[(size_t)i * *m + (j + 2)] - A[(size_t)i * *m + j] * 0.375;
  }
}

// (A row after the other: of all rows the two arrays overlap.)
__attribute__((noinline)) static void rows(int *n, int *m, int *steps, double *A, double *B) {
  for (unsigned t = 0; t < *steps; ++t)
    for (unsigned i = 0; i < *n; ++i)
      row(i, m, A, B);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 17), m = (int)example_arg(argc, argv, 2, 15), steps = (int)example_arg(argc, argv, 3, 3);
  int by = (int)example_arg(argc, argv, 4, 17), count = n * m + by + 2;
  double *block = example_array(count);
  example_fill(block, count);
  rows(&n, &m, &steps, block, block + by);
  example_print("block", block, count);
  return 0;
}
