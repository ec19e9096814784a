/* The Cholesky factor of a positive definite matrix, in place, in its lower triangle.
 * cholesky [N [SEED]] */
#define SIZES(X) X(1, n, 60)
#include "algorithm.h"

#define A(i, j) AT2(A, n, i, j)

KERNEL(MATRIX(A, n, n)) {
  for (INDEX i = 0; i < n; ++i) {
    for (INDEX j = 0; j < i; ++j) {
      for (INDEX k = 0; k < j; ++k)
        A(i, j) -= A(i, k) * A(j, k);
      A(i, j) /= A(j, j);
    }
    for (INDEX k = 0; k < i; ++k)
      A(i, i) -= A(i, k) * A(i, k);
    A(i, i) = SQRT(A(i, i));
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)n * n);
  REPEAT {
    fill_definite(A, n);
    CALL_KERNEL(A);
  }
  example_print("A", A, (size_t)n * n);
  free(A);
  return 0;
}
