/* Means of nine neighbours, in place (Gauss and Seidel).
 * seidel-2d [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 6) X(2, n, 30)
#include "algorithm.h"

#define A(i, j) AT2(A, n, i, j)

KERNEL(MATRIX(A, n, n)) {
  for (INDEX t = 0; t < steps; ++t)
    for (INDEX i = 1; i < n - 1; ++i)
      for (INDEX j = 1; j < n - 1; ++j)
        A(i, j) = (A(i - 1, j - 1) + A(i - 1, j) + A(i - 1, j + 1) + A(i, j - 1) + A(i, j) + A(i, j + 1) + A(i + 1, j - 1) +
                   A(i + 1, j) + A(i + 1, j + 1)) /
                  (TYPE)9;
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)n * n);
  REPEAT {
    example_fill(A, (size_t)n * n);
    CALL_KERNEL(A);
  }
  example_print("A", A, (size_t)n * n);
  free(A);
  return 0;
}
