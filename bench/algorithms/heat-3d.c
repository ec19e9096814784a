/* The heat equation in three dimensions, two half steps between two arrays.
 * heat-3d [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 4) X(2, n, 14)
#include "algorithm.h"

#define A(i, j, k) AT3(A, n, n, i, j, k)
#define B(i, j, k) AT3(B, n, n, i, j, k)

KERNEL(CUBE(A, n, n, n), CUBE(B, n, n, n)) {
  for (INDEX t = 1; t <= steps; ++t) {
    for (INDEX i = 1; i < n - 1; ++i)
      for (INDEX j = 1; j < n - 1; ++j)
        for (INDEX k = 1; k < n - 1; ++k)
          B(i, j, k) = (TYPE)0.125 * (A(i + 1, j, k) - 2 * A(i, j, k) + A(i - 1, j, k)) +
                       (TYPE)0.125 * (A(i, j + 1, k) - 2 * A(i, j, k) + A(i, j - 1, k)) +
                       (TYPE)0.125 * (A(i, j, k + 1) - 2 * A(i, j, k) + A(i, j, k - 1)) + A(i, j, k);
    for (INDEX i = 1; i < n - 1; ++i)
      for (INDEX j = 1; j < n - 1; ++j)
        for (INDEX k = 1; k < n - 1; ++k)
          A(i, j, k) = (TYPE)0.125 * (B(i + 1, j, k) - 2 * B(i, j, k) + B(i - 1, j, k)) +
                       (TYPE)0.125 * (B(i, j + 1, k) - 2 * B(i, j, k) + B(i, j - 1, k)) +
                       (TYPE)0.125 * (B(i, j, k + 1) - 2 * B(i, j, k) + B(i, j, k - 1)) + B(i, j, k);
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  size_t size = (size_t)n * n * n;
  void *A = example_array(size), *B = example_array(size);
  REPEAT {
    example_fill(A, size);
    example_fill(B, size);
    CALL_KERNEL(A, B);
  }
  example_print("A", A, size);
  example_print("B", B, size);
  free(A);
  free(B);
  return 0;
}
