/* Two components of an electric field and a magnetic one, updated in place one after the other.
 * fdtd2d [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 10) X(2, n, 70)
#include "stencil.h"

KERNEL(TYPE ex[restrict n][n], TYPE ey[restrict n][n], TYPE hz[restrict n][n]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n; ++i)
      for (int j = 0; j < n; ++j)
        ey[i][j] = ey[i][j] - (TYPE)0.5 * (hz[i][j] - hz[i - 1][j]);
    for (int i = 0; i < n; ++i)
      for (int j = 1; j < n; ++j)
        ex[i][j] = ex[i][j] - (TYPE)0.5 * (hz[i][j] - hz[i][j - 1]);
    for (int i = 0; i < n - 1; ++i)
      for (int j = 0; j < n - 1; ++j)
        hz[i][j] = hz[i][j] - (TYPE)0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  size_t count = (size_t)n * n;
  void *ex = example_array(count), *ey = example_array(count), *hz = example_array(count);
  REPEAT {
    example_fill(ex, count);
    example_fill(ey, count);
    example_fill(hz, count);
    CALL_KERNEL(ex, ey, hz);
  }
  example_print("ex", ex, count);
  example_print("ey", ey, count);
  example_print("hz", hz, count);
  free(ex);
  free(ey);
  free(hz);
  return 0;
}
