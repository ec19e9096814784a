// Borders of grids with a halo of a width that is a member or an argument: loops along one row after the other, none of which steps over rows; the row's length is what is
// between two of them. One grid has a halo of no width.
// ARGS: 60 41 1
// ARGS: 17 1 3
// ARGS: 1 1 1
// ARGS: 33 20 0
// OFFLOAD: partial
// KERNELS: members wide along corners
#include "example.h"

#define KERNEL __attribute__((noinline)) static

typedef struct {
  int nx, ny, g;
  double *d;
} Grid;

static inline double *at(const Grid *g, int i, int j) { return g->d + ((j + g->g) * (g->nx + 2 * g->g) + (i + g->g)); }
static inline double *wide_at(const Grid *g, int i, int j) {
  return g->d + ((size_t)(j + g->g) * (size_t)(g->nx + 2 * g->g) + (size_t)(i + g->g));
}

KERNEL void members(const Grid *g) {
  for (int i = -1; i <= g->nx; ++i) {
    *at(g, i, -1) = *at(g, i, 0);
    *at(g, i, g->ny) = *at(g, i, g->ny - 1);
  }
}

KERNEL void wide(const Grid *g) {
  for (int i = 0; i < g->nx; ++i) {
    *wide_at(g, i, -1) = 0.5 * *wide_at(g, i, 0);
    *wide_at(g, i, g->ny) = 0.25 * *wide_at(g, i, g->ny - 1);
  }
}

KERNEL void along(double *d, int nx, int ny, int g) {
  int w = nx + 2 * g;
  for (int i = -g; i < nx + g; ++i)
    d[(g - 1) * w + i + g] = d[g * w + i + g] + d[(ny + g - 1) * w + i + g];
}

KERNEL void corners(double *d, int nx, int ny, int g) {
  int w = nx + 2 * g;
  for (int k = 0; k < g; ++k)
    for (int i = 0; i < w; ++i) {
      d[k * w + i] = d[(2 * g - 1 - k) * w + i];
      d[(ny + g + k) * w + i] = d[(ny + g - 1 - k) * w + i];
    }
}

int main(int argc, char **argv) {
  int nx = (int)example_arg(argc, argv, 1, 60), ny = (int)example_arg(argc, argv, 2, 41), g = (int)example_arg(argc, argv, 3, 1);
  // Room for what a grid without a halo writes beside itself.
  size_t w = (size_t)nx + 2 * (size_t)g, all = w * ((size_t)ny + 2 * (size_t)g) + 4 * w + 8;
  double *d = example_array(all), *in = d + 2 * w + 4;
  example_fill(d, all);
  Grid grid = {nx, ny, g, in};
  members(&grid);
  example_print("members", d, all);
  wide(&grid);
  example_print("wide", d, all);
  along(in, nx, ny, g);
  example_print("along", d, all);
  if (ny >= g)
    corners(in, nx, ny, g);
  example_print("corners", d, all);
  return 0;
}
