/* Means of three neighbours, two half steps between two arrays.
 * jacobi-1d [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 10) X(2, n, 100)
#include "algorithm.h"

KERNEL(VECTOR(A, n), VECTOR(B, n)) {
  for (INDEX t = 0; t < steps; ++t) {
    for (INDEX i = 1; i < n - 1; ++i)
      B[i] = (TYPE)0.33333 * (A[i - 1] + A[i] + A[i + 1]);
    for (INDEX i = 1; i < n - 1; ++i)
      A[i] = (TYPE)0.33333 * (B[i - 1] + B[i] + B[i + 1]);
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array(n), *B = example_array(n);
  REPEAT {
    example_fill(A, n);
    example_fill(B, n);
    CALL_KERNEL(A, B);
  }
  example_print("A", A, n);
  example_print("B", B, n);
  free(A);
  free(B);
  return 0;
}
