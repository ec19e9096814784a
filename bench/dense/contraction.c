/* A tensor contraction: C[a,b,c] += A[a,d,c] * B[d,b].
 * contraction [A B C D] */
#include "unseen.h"

__attribute__((noinline)) static void kernel(int na, int nb, int nc, int nd, TYPE C[na][nb][nc], TYPE A[na][nd][nc], TYPE B[nd][nb]) {
  for (int a = 0; a < na; ++a)
    for (int b = 0; b < nb; ++b)
      for (int c = 0; c < nc; ++c)
        for (int d = 0; d < nd; ++d)
          C[a][b][c] += A[a][d][c] * B[d][b];
}

int main(int argc, char **argv) {
  int a = (int)example_arg(argc, argv, 1, 10), b = (int)example_arg(argc, argv, 2, 60);
  int c = (int)example_arg(argc, argv, 3, 70), d = (int)example_arg(argc, argv, 4, 50);
  TYPE *C = 0;
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(1);
    free(C);
    C = dense_random((size_t)a * b * c);
    TYPE *A = dense_random((size_t)a * d * c), *B = dense_random((size_t)d * b);
    if (a && b && c && d) kernel(a, b, c, d, (void *)C, (void *)A, (void *)B);
    free(A);
    free(B);
  }
  example_print("C", C, (size_t)a * b * c);
  return 0;
}
