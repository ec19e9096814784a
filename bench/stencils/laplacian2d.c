/* Five points, two time levels in one array.
 * laplacian2d [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 10) X(2, n, 70)
#include "stencil.h"

KERNEL(TYPE A[2][n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        A[(t + 1) % 2][i][j] = (TYPE)0.26 * A[t % 2][i][j] + (TYPE)0.185 * (A[t % 2][i - 1][j] + A[t % 2][i + 1][j] +
                                                                            A[t % 2][i][j - 1] + A[t % 2][i][j + 1]);
}

STENCIL_MAIN(2, (size_t)n * n)
