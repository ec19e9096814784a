/* A star of order eight: four neighbours along each of four directions, from A to B and back.
 * star8 [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 6) X(2, n, 70)
#include "stencil.h"

#define RING(F, d) (F[i - d][j] + F[i + d][j] + F[i][j - d] + F[i][j + d])
#define STAR(F)                                                                                                                  \
  ((TYPE)0.327 * F[i][j] + (TYPE)0.11 * RING(F, 1) + (TYPE)0.05 * RING(F, 2) + (TYPE)0.012 * RING(F, 3) - (TYPE)0.004 * RING(F, 4))

KERNEL(TYPE A[restrict n][n], TYPE B[restrict n][n]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 4; i < n - 4; ++i)
      for (int j = 4; j < n - 4; ++j)
        B[i][j] = STAR(A);
    for (int i = 4; i < n - 4; ++i)
      for (int j = 4; j < n - 4; ++j)
        A[i][j] = STAR(B);
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  size_t count = (size_t)n * n;
  void *A = example_array(count), *B = example_array(count);
  REPEAT {
    example_fill(A, count);
    example_fill(B, count);
    CALL_KERNEL(A, B);
  }
  example_print("A", A, count);
  example_print("B", B, count);
  free(A);
  free(B);
  return 0;
}
