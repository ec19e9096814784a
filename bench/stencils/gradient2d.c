/* Five points and a reciprocal root of the squared differences.
 * gradient2d [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 10) X(2, n, 70)
#include "stencil.h"

#define D(i, j) (A[t % 2][y][x] - A[t % 2][i][j])

KERNEL(TYPE A[2][n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int y = 1; y < n - 1; ++y)
      for (int x = 1; x < n - 1; ++x)
        A[(t + 1) % 2][y][x] =
            (TYPE)0.9 * A[t % 2][y][x] + (TYPE)0.1 / SQRT((TYPE)1 + D(y - 1, x) * D(y - 1, x) + D(y, x - 1) * D(y, x - 1) +
                                                          D(y, x + 1) * D(y, x + 1) + D(y + 1, x) * D(y + 1, x));
}

STENCIL_MAIN(2, (size_t)n * n)
