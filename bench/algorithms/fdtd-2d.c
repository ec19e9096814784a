/* Finite differences in the time domain: Yee's scheme for a transverse electric field, with a source along one edge.
 * fdtd-2d [STEPS NX NY [SEED]] */
#define SIZES(X) X(1, steps, 6) X(2, nx, 30) X(3, ny, 34)
#include "algorithm.h"

#define ex(i, j) AT2(ex, ny, i, j)
#define ey(i, j) AT2(ey, ny, i, j)
#define hz(i, j) AT2(hz, ny, i, j)

KERNEL(MATRIX(ex, nx, ny), MATRIX(ey, nx, ny), MATRIX(hz, nx, ny), VECTOR(source, steps)) {
  for (INDEX t = 0; t < steps; ++t) {
    for (INDEX j = 0; j < ny; ++j)
      ey(0, j) = source[t];
    for (INDEX i = 1; i < nx; ++i)
      for (INDEX j = 0; j < ny; ++j)
        ey(i, j) = ey(i, j) - (TYPE)0.5 * (hz(i, j) - hz(i - 1, j));
    for (INDEX i = 0; i < nx; ++i)
      for (INDEX j = 1; j < ny; ++j)
        ex(i, j) = ex(i, j) - (TYPE)0.5 * (hz(i, j) - hz(i, j - 1));
    for (INDEX i = 0; i < nx - 1; ++i)
      for (INDEX j = 0; j < ny - 1; ++j)
        hz(i, j) = hz(i, j) - (TYPE)0.7 * (ex(i, j + 1) - ex(i, j) + ey(i + 1, j) - ey(i, j));
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  size_t size = (size_t)nx * ny;
  void *ex = example_array(size), *ey = example_array(size), *hz = example_array(size), *source = example_array(steps);
  REPEAT {
    example_fill(ex, size);
    example_fill(ey, size);
    example_fill(hz, size);
    example_fill(source, steps);
    CALL_KERNEL(ex, ey, hz, source);
  }
  example_print("ex", ex, size);
  example_print("ey", ey, size);
  example_print("hz", hz, size);
  free(ex);
  free(ey);
  free(hz);
  free(source);
  return 0;
}
