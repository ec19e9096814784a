// Subscripts that are data: a gather, which runs on the device; a scatter and a histogram, which do not.
// ARGS: 333
// ARGS: 0
// ARGS: 1
// OFFLOAD: yes
#include "example.h"


__attribute__((noinline)) static void kernel(int n, double *restrict A, const double *restrict B, const int *restrict index,
                                             int *restrict histogram) {
  for (int i = 0; i < n; ++i)
    A[i] += B[index[i]];
  for (int i = 0; i < n; ++i)
    A[index[i]] *= 0.5;
  for (int i = 0; i < n; ++i)
    histogram[index[i] % 16]++;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333);
  double *A = example_array((size_t)n), *B = example_array((size_t)n);
  int *index = malloc(sizeof(int) * (size_t)(n + 1)), histogram[16] = {0};
  if (!index)
    return 2;
  example_fill(A, (size_t)n);
  example_fill(B, (size_t)n);
  for (int i = 0; i < n; ++i)
    index[i] = (int)(example_bits() % (uint64_t)n);
  kernel(n, A, B, index, histogram);
  example_print("A", A, (size_t)n);
  for (int i = 0; i < 16; ++i)
    printf("%d ", histogram[i]);
  printf("\n");
  return 0;
}
