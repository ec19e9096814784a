/* D = beta D + (alpha A B) C: two products in one function, on linearised arrays with 64-bit sizes.
 * 2mm [NI NJ NK NL [SEED]] */
#include "example.h"

__attribute__((noinline)) static void two_products(long ni, long nj, long nk, long nl, TYPE alpha, TYPE beta,
                                                   TYPE *restrict tmp, const TYPE *restrict A, const TYPE *restrict B,
                                                   const TYPE *restrict C, TYPE *restrict D) {
  for (long i = 0; i < ni; ++i)
    for (long j = 0; j < nj; ++j) {
      tmp[i * nj + j] = 0;
      for (long k = 0; k < nk; ++k)
        tmp[i * nj + j] += alpha * A[i * nk + k] * B[k * nj + j];
    }
  for (long i = 0; i < ni; ++i)
    for (long j = 0; j < nl; ++j) {
      D[i * nl + j] *= beta;
      for (long k = 0; k < nj; ++k)
        D[i * nl + j] += tmp[i * nj + k] * C[k * nl + j];
    }
}

int main(int argc, char **argv) {
  long ni = example_arg(argc, argv, 1, 200), nj = example_arg(argc, argv, 2, 210);
  long nk = example_arg(argc, argv, 3, 220), nl = example_arg(argc, argv, 4, 190);
  long seed = example_arg(argc, argv, 5, 1);
  TYPE *A = example_array((size_t)(ni * nk)), *B = example_array((size_t)(nk * nj));
  TYPE *C = example_array((size_t)(nj * nl)), *D = example_array((size_t)(ni * nl));
  TYPE *tmp = example_array((size_t)(ni * nj));
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(seed);
    example_fill(A, (size_t)(ni * nk));
    example_fill(B, (size_t)(nk * nj));
    example_fill(C, (size_t)(nj * nl));
    example_fill(D, (size_t)(ni * nl));
    example_fill(tmp, (size_t)(ni * nj));
    TYPE alpha = (TYPE)example_uniform(), beta = (TYPE)example_uniform();
    two_products(ni, nj, nk, nl, alpha, beta, tmp, A, B, C, D);
  }
  example_print("tmp", tmp, (size_t)(ni * nj));
  example_print("D", D, (size_t)(ni * nl));
  free(A);
  free(B);
  free(C);
  free(D);
  free(tmp);
  return 0;
}
