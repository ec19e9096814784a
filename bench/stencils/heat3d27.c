/* A box of twenty-seven points, three weights a plane.
 * heat3d27 [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 6) X(2, n, 30)
#include "stencil.h"

#define F A[t % 2]
#define PLANE(I, CORNER, EDGE, MIDDLE)                                                                                           \
  ((TYPE)CORNER * F[I][j - 1][k - 1] + (TYPE)EDGE * F[I][j - 1][k] + (TYPE)CORNER * F[I][j - 1][k + 1] +                          \
   (TYPE)EDGE * F[I][j][k - 1] + (TYPE)MIDDLE * F[I][j][k] + (TYPE)EDGE * F[I][j][k + 1] +                                        \
   (TYPE)CORNER * F[I][j + 1][k - 1] + (TYPE)EDGE * F[I][j + 1][k] + (TYPE)CORNER * F[I][j + 1][k + 1])

KERNEL(TYPE A[2][n][n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        for (int k = 1; k < n - 1; ++k)
          A[(t + 1) % 2][i][j][k] = PLANE(i - 1, 0.02, 0.03, 0.05) + PLANE(i, 0.03, 0.05, 0.13) + PLANE(i + 1, 0.025, 0.035, 0.06);
}

STENCIL_MAIN(2, (size_t)n * n * n)
