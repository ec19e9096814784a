/* C = beta C + alpha A B, on variable-length arrays.
 * gemm [NI NJ NK [SEED]] */
#include "example.h"

__attribute__((noinline)) static void gemm(int ni, int nj, int nk, TYPE alpha, TYPE beta, TYPE C[ni][nj], TYPE A[ni][nk],
                                           TYPE B[nk][nj]) {
  for (int i = 0; i < ni; ++i)
    for (int j = 0; j < nj; ++j) {
      C[i][j] *= beta;
      for (int k = 0; k < nk; ++k)
        C[i][j] += alpha * A[i][k] * B[k][j];
    }
}

int main(int argc, char **argv) {
  int ni = (int)example_arg(argc, argv, 1, 300);
  int nj = (int)example_arg(argc, argv, 2, 260);
  int nk = (int)example_arg(argc, argv, 3, 280);
  long seed = example_arg(argc, argv, 4, 1);
  TYPE *A = example_array((size_t)ni * nk);
  TYPE *B = example_array((size_t)nk * nj);
  TYPE *C = example_array((size_t)ni * nj);
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(seed);
    example_fill(A, (size_t)ni * nk);
    example_fill(B, (size_t)nk * nj);
    example_fill(C, (size_t)ni * nj);
    TYPE alpha = (TYPE)example_uniform(), beta = (TYPE)example_uniform();
    if (ni > 0 && nj > 0 && nk > 0)
      gemm(ni, nj, nk, alpha, beta, (TYPE(*)[nj])C, (TYPE(*)[nk])A, (TYPE(*)[nj])B);
  }
  example_print("C", C, (size_t)ni * nj);
  free(A);
  free(B);
  free(C);
  return 0;
}
