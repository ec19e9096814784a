/* The QR factorisation by the modified Gram-Schmidt method.
 * gramschmidt [M N [SEED]] */
#define SIZES(X) X(1, m, 50) X(2, n, 40)
#include "algorithm.h"

#define A(i, j) AT2(A, n, i, j)
#define R(i, j) AT2(R, n, i, j)
#define Q(i, j) AT2(Q, n, i, j)

KERNEL(MATRIX(A, m, n), MATRIX(R, n, n), MATRIX(Q, m, n)) {
  for (INDEX k = 0; k < n; ++k) {
    TYPE norm = 0;
    for (INDEX i = 0; i < m; ++i)
      norm += A(i, k) * A(i, k);
    R(k, k) = SQRT(norm);
    for (INDEX i = 0; i < m; ++i)
      Q(i, k) = A(i, k) / R(k, k);
    for (INDEX j = k + 1; j < n; ++j) {
      R(k, j) = 0;
      for (INDEX i = 0; i < m; ++i)
        R(k, j) += Q(i, k) * A(i, j);
      for (INDEX i = 0; i < m; ++i)
        A(i, j) = A(i, j) - Q(i, k) * R(k, j);
    }
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)m * n), *R = example_array((size_t)n * n), *Q = example_array((size_t)m * n);
  REPEAT {
    example_fill(A, (size_t)m * n);
    example_fill(R, (size_t)n * n);
    CALL_KERNEL(A, R, Q);
  }
  example_print("A", A, (size_t)m * n);
  example_print("R", R, (size_t)n * n);
  example_print("Q", Q, (size_t)m * n);
  free(A);
  free(R);
  free(Q);
  return 0;
}
