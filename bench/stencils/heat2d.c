/* A box of nine points with nine weights.
 * heat2d [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 10) X(2, n, 70)
#include "stencil.h"

KERNEL(TYPE A[2][n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        A[(t + 1) % 2][i][j] =
            (TYPE)0.07 * A[t % 2][i - 1][j - 1] + (TYPE)0.12 * A[t % 2][i - 1][j] + (TYPE)0.08 * A[t % 2][i - 1][j + 1] +
            (TYPE)0.13 * A[t % 2][i][j - 1] + (TYPE)0.21 * A[t % 2][i][j] + (TYPE)0.11 * A[t % 2][i][j + 1] +
            (TYPE)0.06 * A[t % 2][i + 1][j - 1] + (TYPE)0.14 * A[t % 2][i + 1][j] + (TYPE)0.075 * A[t % 2][i + 1][j + 1];
}

STENCIL_MAIN(2, (size_t)n * n)
