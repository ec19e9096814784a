/* C = alpha A B + beta C.
 * gemm [NI NJ NK [SEED]] */
#define SIZES(X) X(1, ni, 40) X(2, nj, 44) X(3, nk, 48)
#include "algorithm.h"

#define A(i, k) AT2(A, nk, i, k)
#define B(k, j) AT2(B, nj, k, j)
#define C(i, j) AT2(C, nj, i, j)

KERNEL(TYPE alpha, TYPE beta, MATRIX(C, ni, nj), MATRIX(A, ni, nk), MATRIX(B, nk, nj)) {
  for (INDEX i = 0; i < ni; ++i) {
    for (INDEX j = 0; j < nj; ++j)
      C(i, j) *= beta;
    for (INDEX k = 0; k < nk; ++k)
      for (INDEX j = 0; j < nj; ++j)
        C(i, j) += alpha * A(i, k) * B(k, j);
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)ni * nk), *B = example_array((size_t)nk * nj), *C = example_array((size_t)ni * nj);
  REPEAT {
    example_fill(A, (size_t)ni * nk);
    example_fill(B, (size_t)nk * nj);
    example_fill(C, (size_t)ni * nj);
    CALL_KERNEL((TYPE)1.5, (TYPE)1.2, C, A, B);
  }
  example_print("C", C, (size_t)ni * nj);
  free(A);
  free(B);
  free(C);
  return 0;
}
