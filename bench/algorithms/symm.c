/* C = alpha A B + beta C with a symmetric A, of which the lower triangle is stored.
 * symm [M N [SEED]] */
#define SIZES(X) X(1, m, 40) X(2, n, 50)
#include "algorithm.h"

#define A(i, j) AT2(A, m, i, j)
#define B(i, j) AT2(B, n, i, j)
#define C(i, j) AT2(C, n, i, j)

KERNEL(TYPE alpha, TYPE beta, MATRIX(C, m, n), MATRIX(A, m, m), MATRIX(B, m, n)) {
  for (INDEX i = 0; i < m; ++i)
    for (INDEX j = 0; j < n; ++j) {
      TYPE sum = 0;
      for (INDEX k = 0; k < i; ++k) {
        C(k, j) += alpha * B(i, j) * A(i, k);
        sum += B(k, j) * A(i, k);
      }
      C(i, j) = beta * C(i, j) + alpha * B(i, j) * A(i, i) + alpha * sum;
    }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)m * m), *B = example_array((size_t)m * n), *C = example_array((size_t)m * n);
  REPEAT {
    example_fill(A, (size_t)m * m);
    example_fill(B, (size_t)m * n);
    example_fill(C, (size_t)m * n);
    CALL_KERNEL((TYPE)1.5, (TYPE)1.2, C, A, B);
  }
  example_print("C", C, (size_t)m * n);
  free(A);
  free(B);
  free(C);
  return 0;
}
