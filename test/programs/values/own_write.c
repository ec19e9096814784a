// Iteration 0 reads with A[i + i] what it has itself written with A[i]: that is no value from before the loop.
// ARGS: 40
// ARGS: 0
// ARGS: 1
// ARGS: 513
// OFFLOAD: any
#include "example.h"

__attribute__((noinline)) static void kernel(int n, double *A) {
  for (int i = 0; i < n; ++i) {
    A[i] = 0.75 * A[i] + 1.5;
    A[i] = A[i + i] * A[i] + 0.25;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 40);
  double *A = example_array((size_t)n * 2 + 1);
  example_fill(A, (size_t)n * 2 + 1);
  kernel(n, A);
  example_print("A", A, (size_t)n * 2 + 1);
  free(A);
  return 0;
}
