/* D = alpha A B C + beta D, from left to right.
 * 2mm [NI NJ NK NL [SEED]] */
#define SIZES(X) X(1, ni, 40) X(2, nj, 44) X(3, nk, 48) X(4, nl, 52)
#include "algorithm.h"

#define A(i, k) AT2(A, nk, i, k)
#define B(k, j) AT2(B, nj, k, j)
#define C(j, l) AT2(C, nl, j, l)
#define D(i, l) AT2(D, nl, i, l)
#define tmp(i, j) AT2(tmp, nj, i, j)

KERNEL(TYPE alpha, TYPE beta, MATRIX(tmp, ni, nj), MATRIX(A, ni, nk), MATRIX(B, nk, nj), MATRIX(C, nj, nl), MATRIX(D, ni, nl)) {
  for (INDEX i = 0; i < ni; ++i)
    for (INDEX j = 0; j < nj; ++j) {
      tmp(i, j) = 0;
      for (INDEX k = 0; k < nk; ++k)
        tmp(i, j) += alpha * A(i, k) * B(k, j);
    }
  for (INDEX i = 0; i < ni; ++i)
    for (INDEX l = 0; l < nl; ++l) {
      D(i, l) *= beta;
      for (INDEX j = 0; j < nj; ++j)
        D(i, l) += tmp(i, j) * C(j, l);
    }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)ni * nk), *B = example_array((size_t)nk * nj), *C = example_array((size_t)nj * nl);
  void *D = example_array((size_t)ni * nl), *tmp = example_array((size_t)ni * nj);
  REPEAT {
    example_fill(A, (size_t)ni * nk);
    example_fill(B, (size_t)nk * nj);
    example_fill(C, (size_t)nj * nl);
    example_fill(D, (size_t)ni * nl);
    CALL_KERNEL((TYPE)1.5, (TYPE)1.2, tmp, A, B, C, D);
  }
  example_print("tmp", tmp, (size_t)ni * nj);
  example_print("D", D, (size_t)ni * nl);
  free(A);
  free(B);
  free(C);
  free(D);
  free(tmp);
  return 0;
}
