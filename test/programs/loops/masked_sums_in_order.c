// Floating-point sums in order beside stores, under a condition that guards what is loaded: all but the sum runs in parallel. A step of
// a lattice with periodic borders, whose sum of roots has fewer bits than its terms; products, differences and fused sums; a NaN among the
// terms, and a sum that stays as it was.
// ARGS: 40 60
// ARGS: 1 1
// ARGS: 1 33
// ARGS: 33 1
// ARGS: 0 9
// OFFLOAD: yes
// KERNELS: step fused products differences none
#include "example.h"
#include <math.h>

typedef struct {
  float s[3];
} cell;

__attribute__((noinline)) static float step(const cell *restrict from, cell *restrict to, const int *restrict wall, int ny, int nx) {
  float total = 0;
  for (int i = 0; i < ny; ++i) {
    int south = i == 0 ? i + ny - 1 : i - 1, north = (i + 1) % ny;
    for (int j = 0; j < nx; ++j) {
      int k = i * nx + j, east = (j + 1) % nx, west = j == 0 ? j + nx - 1 : j - 1;
      if (wall[k]) {
        to[k].s[0] = from[i * nx + east].s[1];
        to[k].s[1] = from[i * nx + west].s[0];
        to[k].s[2] = from[north * nx + j].s[2];
      } else {
        float u = from[i * nx + west].s[0] - from[i * nx + east].s[1], v = from[south * nx + j].s[2] + from[k].s[0];
        to[k].s[0] = u * 3 + v;
        to[k].s[1] = v - u;
        to[k].s[2] = u * v;
        total += sqrt(u * u + v * v);
      }
    }
  }
  return total;
}

__attribute__((noinline)) static double fused(const double *restrict x, double *restrict y, const int *restrict mask, int ny, int nx) {
  double sum = -0.0;
  for (int h = 0; h < ny; ++h)
    for (int j = 0; j < nx; ++j) {
      int i = h * nx + j;
      if (mask[i]) {
        y[i] = x[i] * 2;
        sum += x[i] * x[i + 1];
      } else {
        y[i] = 7;
      }
    }
  return sum;
}

__attribute__((noinline)) static double products(const double *restrict x, double *restrict y, const int *restrict mask, int ny, int nx) {
  double product = 1;
  for (int h = 0; h < ny; ++h)
    for (int j = 0; j < nx; ++j) {
      int i = h * nx + j;
      if (mask[i]) {
        double v = 1 + x[i] / 64;
        y[i] = v;
        product *= v;
      }
    }
  return product;
}

__attribute__((noinline)) static double differences(const double *restrict x, double *restrict y, const int *restrict mask, int ny, int nx) {
  double left = 0;
  for (int h = 0; h < ny; ++h)
    for (int j = 0; j < nx; ++j) {
      int i = h * nx + j;
      if (mask[i]) {
        y[i] = x[i + 1] - x[i];
        left -= y[i] * y[i];
      }
    }
  return left;
}

/* No term is added: -0.0 stays. */
__attribute__((noinline)) static double none(const double *restrict x, double *restrict y, const int *restrict mask, int ny, int nx) {
  double sum = -0.0;
  for (int h = 0; h < ny; ++h)
    for (int j = 0; j < nx; ++j) {
      int i = h * nx + j;
      if (mask[i] > 1) {
        y[i] = x[i];
        sum += x[i];
      } else {
        y[i] = x[i + 1] + 1;
      }
    }
  return sum;
}

/* What is in memory may be a signalling NaN, which an addition would quiet: the sum stays under its condition. */
__attribute__((noinline)) static void onwards(const double *restrict x, double *restrict y, const int *restrict mask, int ny, int nx, double *sum) {
  double s = *sum;
  for (int h = 0; h < ny; ++h)
    for (int j = 0; j < nx; ++j) {
      int i = h * nx + j;
      if (mask[i] > 1) {
        y[i] = x[i];
        s += x[i];
      }
    }
  *sum = s;
}

int main(int argc, char **argv) {
  int ny = (int)example_arg(argc, argv, 1, 10), nx = (int)example_arg(argc, argv, 2, 10), n = ny * nx;
  double *x = malloc((n + 1) * sizeof *x), *y = calloc(n + 1, sizeof *y);
  cell *from = malloc((n + 1) * sizeof *from), *to = calloc(n + 1, sizeof *to);
  int *wall = malloc((n + 1) * sizeof *wall);
  for (int k = 0; k <= n; ++k) {
    x[k] = example_uniform();
    wall[k] = example_uniform() < -0.3;
    for (int d = 0; d < 3; ++d)
      from[k].s[d] = (float)example_uniform();
  }
  float total = step(from, to, wall, ny, nx);
  printf("%a %016llx\n", total, (unsigned long long)example_hash(to, n * sizeof *to));
  printf("%a ", fused(x, y, wall, ny, nx));
  printf("%016llx ", (unsigned long long)example_hash(y, n * sizeof *y));
  printf("%a ", products(x, y, wall, ny, nx));
  printf("%a ", differences(x, y, wall, ny, nx));
  printf("%a\n", none(x, y, wall, ny, nx));
  uint64_t bits = 0x7ff4000000000000u;
  double signalling;
  memcpy(&signalling, &bits, sizeof bits);
  onwards(x, y, wall, ny, nx, &signalling);
  memcpy(&bits, &signalling, sizeof bits);
  printf("%016llx\n", (unsigned long long)bits);
  if (n)
    x[n / 2] = NAN, wall[n / 2] = 1;
  printf("%d %016llx\n", isnan(fused(x, y, wall, ny, nx)), (unsigned long long)example_hash(wall, n * sizeof *wall));
  free(x);
  free(y);
  free(from);
  free(to);
  free(wall);
}
