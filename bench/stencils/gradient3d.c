/* Seven points and a reciprocal root of the squared differences.
 * gradient3d [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 6) X(2, n, 30)
#include "stencil.h"

#define D(i, j, k) (A[t % 2][z][y][x] - A[t % 2][i][j][k])
#define SQUARE(i, j, k) (D(i, j, k) * D(i, j, k))

KERNEL(TYPE A[2][n][n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int z = 1; z < n - 1; ++z)
      for (int y = 1; y < n - 1; ++y)
        for (int x = 1; x < n - 1; ++x)
          A[(t + 1) % 2][z][y][x] =
              (TYPE)0.9 * A[t % 2][z][y][x] +
              (TYPE)0.1 / SQRT((TYPE)1 + SQUARE(z - 1, y, x) + SQUARE(z, y - 1, x) + SQUARE(z, y, x - 1) + SQUARE(z, y, x + 1) +
                               SQUARE(z, y + 1, x) + SQUARE(z + 1, y, x));
}

STENCIL_MAIN(2, (size_t)n * n * n)
