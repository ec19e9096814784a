/* A step of the lattice-Boltzmann method with nine velocities: streaming, then relaxation towards equilibrium.
 * lattice2d [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 6) X(2, n, 50)
#include "stencil.h"

#define RELAXED(f, w, c)                                                                                                         \
  ((f) + (TYPE)0.6 * ((TYPE)w * (rho + (TYPE)3 * (c) + (TYPE)4.5 * (c) * (c) - (TYPE)1.5 * (ux * ux + uy * uy)) - (f)))

KERNEL(TYPE f[2][9][n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j) {
        TYPE f0 = f[t % 2][0][i][j], f1 = f[t % 2][1][i][j - 1], f2 = f[t % 2][2][i - 1][j];
        TYPE f3 = f[t % 2][3][i][j + 1], f4 = f[t % 2][4][i + 1][j], f5 = f[t % 2][5][i - 1][j - 1];
        TYPE f6 = f[t % 2][6][i - 1][j + 1], f7 = f[t % 2][7][i + 1][j + 1], f8 = f[t % 2][8][i + 1][j - 1];
        TYPE rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
        TYPE ux = f1 - f3 + f5 - f6 - f7 + f8, uy = f2 - f4 + f5 + f6 - f7 - f8;
        f[(t + 1) % 2][0][i][j] = RELAXED(f0, 4.0 / 9, (TYPE)0);
        f[(t + 1) % 2][1][i][j] = RELAXED(f1, 1.0 / 9, ux);
        f[(t + 1) % 2][2][i][j] = RELAXED(f2, 1.0 / 9, uy);
        f[(t + 1) % 2][3][i][j] = RELAXED(f3, 1.0 / 9, -ux);
        f[(t + 1) % 2][4][i][j] = RELAXED(f4, 1.0 / 9, -uy);
        f[(t + 1) % 2][5][i][j] = RELAXED(f5, 1.0 / 36, ux + uy);
        f[(t + 1) % 2][6][i][j] = RELAXED(f6, 1.0 / 36, uy - ux);
        f[(t + 1) % 2][7][i][j] = RELAXED(f7, 1.0 / 36, -ux - uy);
        f[(t + 1) % 2][8][i][j] = RELAXED(f8, 1.0 / 36, ux - uy);
      }
}

int main(int argc, char **argv) {
  READ_SIZES;
  size_t count = (size_t)9 * n * n;
  TYPE *f = example_array(2 * count);
  REPEAT {
    /* Small and positive, so that the method is stable. */
    fill_between(f, 2 * count, 0.05, 0.15);
    CALL_KERNEL((void *)f);
  }
  example_print("f", f, 2 * count);
  free(f);
  return 0;
}
