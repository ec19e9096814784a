/* Two substances that diffuse and react (Gray and Scott), from one pair of arrays to another and back.
 * reaction2d [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 10) X(2, n, 70)
#include "stencil.h"

#define SPREAD(F) (F[i - 1][j] + F[i + 1][j] + F[i][j - 1] + F[i][j + 1] - (TYPE)4 * F[i][j])
#define STEP(U2, V2, U, V)                                                                                                       \
  for (int i = 1; i < n - 1; ++i)                                                                                                \
    for (int j = 1; j < n - 1; ++j) {                                                                                            \
      TYPE u = U[i][j], v = V[i][j], r = u * v * v;                                                                              \
      U2[i][j] = u + (TYPE)0.16 * SPREAD(U) - r + (TYPE)0.035 * ((TYPE)1 - u);                                                   \
      V2[i][j] = v + (TYPE)0.08 * SPREAD(V) + r - (TYPE)0.1 * v;                                                                 \
    }

KERNEL(TYPE U[restrict n][n], TYPE V[restrict n][n], TYPE W[restrict n][n], TYPE X[restrict n][n]) {
  for (int t = 0; t < steps; ++t) {
    STEP(W, X, U, V)
    STEP(U, V, W, X)
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  size_t count = (size_t)n * n;
  TYPE *U = example_array(count), *V = example_array(count), *W = example_array(count), *X = example_array(count);
  REPEAT {
    fill_between(U, count, 0, 1);
    fill_between(V, count, 0, 1);
    example_fill(W, count);
    example_fill(X, count);
    CALL_KERNEL((void *)U, (void *)V, (void *)W, (void *)X);
  }
  example_print("U", U, count);
  example_print("V", V, count);
  example_print("W", W, count);
  example_print("X", X, count);
  free(U);
  free(V);
  free(W);
  free(X);
  return 0;
}
