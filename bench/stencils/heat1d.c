/* Three points in a row, two time levels in one array.
 * heat1d [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 10) X(2, n, 700)
#include "stencil.h"

KERNEL(TYPE A[2][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      A[(t + 1) % 2][i] = (TYPE)0.27 * A[t % 2][i - 1] + (TYPE)0.45 * A[t % 2][i] + (TYPE)0.26 * A[t % 2][i + 1];
}

STENCIL_MAIN(2, (size_t)n)
