/* C += A B, or C = beta C + alpha A B with -DSCALED; -DTA, -DTB: A, B are stored transposed.
 * gemm [NI NJ NK] */
#include "example.h"

#ifdef TA
#define SHAPE_A [nk][ni]
#define A_AT(i, k) A[k][i]
#else
#define SHAPE_A [ni][nk]
#define A_AT(i, k) A[i][k]
#endif
#ifdef TB
#define SHAPE_B [nj][nk]
#define B_AT(k, j) B[j][k]
#else
#define SHAPE_B [nk][nj]
#define B_AT(k, j) B[k][j]
#endif

__attribute__((noinline)) static void gemm(int ni, int nj, int nk, TYPE alpha, TYPE beta, TYPE C[ni][nj], TYPE A SHAPE_A,
                                           TYPE B SHAPE_B) {
  (void)alpha, (void)beta;
  for (int i = 0; i < ni; ++i)
    for (int j = 0; j < nj; ++j) {
#ifdef SCALED
      C[i][j] *= beta;
#endif
      for (int k = 0; k < nk; ++k)
#ifdef SCALED
        C[i][j] += alpha * A_AT(i, k) * B_AT(k, j);
#else
        C[i][j] += A_AT(i, k) * B_AT(k, j);
#endif
    }
}

int main(int argc, char **argv) {
  int ni = (int)example_arg(argc, argv, 1, 513), nj = (int)example_arg(argc, argv, 2, 600), nk = (int)example_arg(argc, argv, 3, 70);
  TYPE *A = example_array((size_t)ni * nk), *B = example_array((size_t)nk * nj), *C = example_array((size_t)ni * nj);
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(1);
    example_fill(A, (size_t)ni * nk);
    example_fill(B, (size_t)nk * nj);
    example_fill(C, (size_t)ni * nj);
    TYPE alpha = (TYPE)example_uniform(), beta = (TYPE)example_uniform();
    if (ni > 0 && nj > 0 && nk > 0)
      gemm(ni, nj, nk, alpha, beta, (void *)C, (void *)A, (void *)B);
  }
  example_print("C", C, (size_t)ni * nj);
  free(A);
  free(B);
  free(C);
  return 0;
}
