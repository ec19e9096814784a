// A lattice-Boltzmann step (D2Q9) that pulls from periodic neighbours, and grids that are exchanged after each: nine stores that each read all nine neighbours,
// with cases at the borders, in both halves of the time loop.
// ARGS: 17 12 5
// ARGS: 1 1 3
// ARGS: 33 9 2
// OFFLOAD: yes
// KERNELS: steps
#include "example.h"

static const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const double weight[9] = {4.0 / 9,  1.0 / 9,  1.0 / 9,  1.0 / 9, 1.0 / 9,
                                 1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};

__attribute__((noinline)) static void steps(int nx, int ny, double *f, double *g, int times, double omega) {
  for (int t = 0; t < times; ++t) {
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        double rho = 0, ux = 0, uy = 0, own[9];
        for (int k = 0; k < 9; ++k) {
          int xs = (x - cx[k] + nx) % nx, ys = (y - cy[k] + ny) % ny;
          own[k] = f[(k * ny + ys) * nx + xs];
          rho += own[k];
          ux += cx[k] * own[k];
          uy += cy[k] * own[k];
        }
        ux /= rho;
        uy /= rho;
        for (int k = 0; k < 9; ++k) {
          double along = 3 * (cx[k] * ux + cy[k] * uy);
          double rest = weight[k] * rho * (1 + along + 0.5 * along * along - 1.5 * (ux * ux + uy * uy));
          g[(k * ny + y) * nx + x] = own[k] + omega * (rest - own[k]);
        }
      }
    double *other = f;
    f = g;
    g = other;
  }
}

int main(int argc, char **argv) {
  int nx = (int)example_arg(argc, argv, 1, 17), ny = (int)example_arg(argc, argv, 2, 12), times = (int)example_arg(argc, argv, 3, 5);
  size_t all = 9 * (size_t)nx * (size_t)ny;
  double *f = example_array(all), *g = example_array(all);
  example_fill(f, all);
  example_fill(g, all);
  for (size_t i = 0; i < all; ++i)
    f[i] += 1.5;
  steps(nx, ny, f, g, times, 0.7);
  example_print("f", f, all);
  example_print("g", g, all);
  return 0;
}
