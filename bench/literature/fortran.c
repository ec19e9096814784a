/* Runs the stencils of grids.f90. */
#include "literature.h"

void heat_sections(int steps, int n, float *a, float *b);
void heat_concurrent(int steps, int n, double *u);
void wave_radius(int steps, int n, float *c, float *u, float *v, float *m);
void upwind_merge(int steps, int n, double *q, double *new, double *u);

int main(int argc, char **argv) {
  begin(argc, argv);
  int steps = SIZE(100, 13), few = SIZE(40, 7), n = SIZE(4096, 90), m = SIZE(320, 30);
  size_t nn = (size_t)n * n, mmm = (size_t)m * m * m;
  RUN(heat_sections, nn, steps, 8, float *a = floats(nn, 0, 1); float *b = floats(nn, 0, 1), (steps, n, a, b))
  RUN(heat_concurrent, mmm, few, 16, double *u = doubles(2 * mmm, 0, 1), (few, m, u))
  RUN(wave_radius, nn, 2 * steps, 16, float *c = floats(3, -0.2, 0.2); float *u = floats(nn, -1, 1); float *v = floats(nn, -1, 1); float *k = floats(nn, 0, 0.2),
      (steps, n, c, u, v, k))
  RUN(upwind_merge, nn, steps, 24, double *q = doubles(nn, 0, 1); double *new = doubles(nn, 0, 1); double *u = doubles(nn, -1, 1), (steps, n, q, new, u))
  return 0;
}
