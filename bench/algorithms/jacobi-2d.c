/* Means of five neighbours, two half steps between two arrays.
 * jacobi-2d [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 6) X(2, n, 36)
#include "algorithm.h"

#define A(i, j) AT2(A, n, i, j)
#define B(i, j) AT2(B, n, i, j)

KERNEL(MATRIX(A, n, n), MATRIX(B, n, n)) {
  for (INDEX t = 0; t < steps; ++t) {
    for (INDEX i = 1; i < n - 1; ++i)
      for (INDEX j = 1; j < n - 1; ++j)
        B(i, j) = (TYPE)0.2 * (A(i, j) + A(i, j - 1) + A(i, j + 1) + A(i + 1, j) + A(i - 1, j));
    for (INDEX i = 1; i < n - 1; ++i)
      for (INDEX j = 1; j < n - 1; ++j)
        A(i, j) = (TYPE)0.2 * (B(i, j) + B(i, j - 1) + B(i, j + 1) + B(i + 1, j) + B(i - 1, j));
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)n * n), *B = example_array((size_t)n * n);
  REPEAT {
    example_fill(A, (size_t)n * n);
    example_fill(B, (size_t)n * n);
    CALL_KERNEL(A, B);
  }
  example_print("A", A, (size_t)n * n);
  example_print("B", B, (size_t)n * n);
  free(A);
  free(B);
  return 0;
}
