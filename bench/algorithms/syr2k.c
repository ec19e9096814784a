/* C = alpha (A B' + B A') + beta C in the lower triangle.
 * syr2k [M N [SEED]] */
#define SIZES(X) X(1, m, 40) X(2, n, 50)
#include "algorithm.h"

#define A(i, k) AT2(A, m, i, k)
#define B(i, k) AT2(B, m, i, k)
#define C(i, j) AT2(C, n, i, j)

KERNEL(TYPE alpha, TYPE beta, MATRIX(C, n, n), MATRIX(A, n, m), MATRIX(B, n, m)) {
  for (INDEX i = 0; i < n; ++i) {
    for (INDEX j = 0; j <= i; ++j)
      C(i, j) *= beta;
    for (INDEX k = 0; k < m; ++k)
      for (INDEX j = 0; j <= i; ++j)
        C(i, j) += A(j, k) * alpha * B(i, k) + B(j, k) * alpha * A(i, k);
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)n * m), *B = example_array((size_t)n * m), *C = example_array((size_t)n * n);
  REPEAT {
    example_fill(A, (size_t)n * m);
    example_fill(B, (size_t)n * m);
    example_fill(C, (size_t)n * n);
    CALL_KERNEL((TYPE)1.5, (TYPE)1.2, C, A, B);
  }
  example_print("C", C, (size_t)n * n);
  free(A);
  free(B);
  free(C);
  return 0;
}
