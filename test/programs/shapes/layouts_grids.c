// Grids as programs lay them out: macros with ghost cells, planes at an offset, red and black points.
// ARGS: 11 14 0
// ARGS: 3 4 1
// ARGS: 2 2 1
// ARGS: 31 37 1
// OFFLOAD: yes
// KERNELS: ghosts step stream red_black
#include "example.h"

#define G 2
#define U(a, i, j) a[((i) + G) * (nx + 2 * G) + (j) + G]

__attribute__((noinline)) static void ghosts(int ny, int nx, double *u) {
  for (int j = 0; j < nx; j++)
    for (int g = 1; g <= G; g++) {
      U(u, -g, j) = U(u, g - 1, j);
      U(u, ny - 1 + g, j) = U(u, ny - g, j);
    }
}

__attribute__((noinline)) static void step(int ny, int nx, const double *u, double *v) {
  for (int i = 0; i < ny; i++)
    for (int j = 0; j < nx; j++)
      U(v, i, j) = 0.4 * U(u, i, j) + 0.125 * (U(u, i - 2, j) + U(u, i + 2, j) + U(u, i, j - 2) + U(u, i, j + 2));
}

// Directions in planes, as lattice methods have them.
__attribute__((noinline)) static void stream(int nx, int ny, const double *f, double *g) {
  size_t plane = (size_t)nx * ny;
  for (int y = 1; y < ny - 1; y++)
    for (int x = 1; x < nx - 1; x++) {
      g[y * nx + x] = f[y * nx + x];
      g[plane + y * nx + x] = f[plane + y * nx + x - 1];
      g[2 * plane + y * nx + x] = f[2 * plane + (y - 1) * nx + x];
    }
}

__attribute__((noinline)) static void red_black(int n, int m, int color, double *u) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1 + (i + color) % 2; j < m - 1; j += 2)
      u[i * m + j] = 0.2 * (u[(i - 1) * m + j] + u[(i + 1) * m + j] + u[i * m + j - 1] + u[i * m + j + 1]) + 0.1;
}

int main(int argc, char **argv) {
  int ny = (int)example_arg(argc, argv, 1, 11), nx = (int)example_arg(argc, argv, 2, 14), color = (int)example_arg(argc, argv, 3, 0);
  size_t count = (size_t)(ny + 2 * G) * (nx + 2 * G), planes = 3 * (size_t)nx * ny;
  double *u = example_array(count), *v = example_array(count), *f = example_array(planes), *g = example_array(planes);
  example_fill(u, count);
  example_fill(v, count);
  example_fill(f, planes);
  example_fill(g, planes);
  ghosts(ny, nx, u);
  step(ny, nx, u, v);
  red_black(ny + 2 * G, nx + 2 * G, color, v);
  stream(nx, ny, f, g);
  example_print("u", u, count);
  example_print("v", v, count);
  example_print("g", g, planes);
  free(u);
  free(v);
  free(f);
  free(g);
  return 0;
}
