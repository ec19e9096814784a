/* The wave equation: three time levels in one array, a velocity for each point, differences of fourth order.
 * wave2d [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 10) X(2, n, 70)
#include "stencil.h"

#define F U[(t + 1) % 3]
#define ALONG(i1, j1, i2, j2, i3, j3, i4, j4)                                                                                    \
  ((TYPE)(4.0 / 3) * (F[i2][j2] + F[i3][j3]) - (TYPE)(1.0 / 12) * (F[i1][j1] + F[i4][j4]) - (TYPE)2.5 * F[i][j])

KERNEL(TYPE U[restrict 3][n][n], TYPE V[restrict n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 2; i < n - 2; ++i)
      for (int j = 2; j < n - 2; ++j)
        U[(t + 2) % 3][i][j] =
            (TYPE)2 * F[i][j] - U[t % 3][i][j] +
            (TYPE)0.2 * V[i][j] * V[i][j] * (ALONG(i - 2, j, i - 1, j, i + 1, j, i + 2, j) + ALONG(i, j - 2, i, j - 1, i, j + 1, i, j + 2));
}

int main(int argc, char **argv) {
  READ_SIZES;
  size_t count = (size_t)n * n;
  void *U = example_array(3 * count), *V = example_array(count);
  REPEAT {
    fill_levels(U, 3, count);
    example_fill(V, count);
    CALL_KERNEL(U, V);
  }
  example_print("U", U, 3 * count);
  free(U);
  free(V);
  return 0;
}
