/* The heat equation in three dimensions: a seven-point stencil, from A to B and back.
 * heat-3d [STEPS NX NY NZ [SEED]] */
#include "example.h"

#define STEP(TO, FROM)                                                                                                         \
  for (int i = 1; i < nx - 1; ++i)                                                                                             \
    for (int j = 1; j < ny - 1; ++j)                                                                                           \
      for (int k = 1; k < nz - 1; ++k)                                                                                         \
        TO[i][j][k] = (TYPE)0.125 * (FROM[i + 1][j][k] - (TYPE)2 * FROM[i][j][k] + FROM[i - 1][j][k]) +                        \
                      (TYPE)0.120 * (FROM[i][j + 1][k] - (TYPE)2 * FROM[i][j][k] + FROM[i][j - 1][k]) +                        \
                      (TYPE)0.115 * (FROM[i][j][k + 1] - (TYPE)2 * FROM[i][j][k] + FROM[i][j][k - 1]) + FROM[i][j][k];

__attribute__((noinline)) static void heat(int steps, int nx, int ny, int nz, TYPE A[nx][ny][nz], TYPE B[nx][ny][nz]) {
  for (int t = 0; t < steps; ++t) {
    STEP(B, A)
    STEP(A, B)
  }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 10);
  int nx = (int)example_arg(argc, argv, 2, 60), ny = (int)example_arg(argc, argv, 3, 50);
  int nz = (int)example_arg(argc, argv, 4, 70);
  long seed = example_arg(argc, argv, 5, 1);
  size_t count = (size_t)nx * ny * nz;
  TYPE *A = example_array(count), *B = example_array(count);
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(seed);
    example_fill(A, count);
    example_fill(B, count);
    if (count > 0)
      heat(steps, nx, ny, nz, (TYPE(*)[ny][nz])A, (TYPE(*)[ny][nz])B);
  }
  example_print("A", A, count);
  example_print("B", B, count);
  free(A);
  free(B);
  return 0;
}
