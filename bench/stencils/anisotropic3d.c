/* Nineteen points: the faces and edges of a cube around the point, other weights along each direction.
 * anisotropic3d [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 6) X(2, n, 30)
#include "stencil.h"

#define F A[t % 2]

KERNEL(TYPE A[2][n][n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        for (int k = 1; k < n - 1; ++k)
          A[(t + 1) % 2][i][j][k] =
              (TYPE)0.24 * F[i][j][k] + (TYPE)0.09 * (F[i - 1][j][k] + F[i + 1][j][k]) + (TYPE)0.08 * (F[i][j - 1][k] + F[i][j + 1][k]) +
              (TYPE)0.07 * (F[i][j][k - 1] + F[i][j][k + 1]) +
              (TYPE)0.05 * (F[i - 1][j - 1][k] + F[i + 1][j + 1][k] - F[i - 1][j + 1][k] - F[i + 1][j - 1][k]) +
              (TYPE)0.04 * (F[i - 1][j][k - 1] + F[i + 1][j][k + 1] + F[i - 1][j][k + 1] + F[i + 1][j][k - 1]) +
              (TYPE)0.03 * (F[i][j - 1][k - 1] + F[i][j + 1][k + 1] + F[i][j - 1][k + 1] + F[i][j + 1][k - 1]);
}

STENCIL_MAIN(2, (size_t)n * n * n)
