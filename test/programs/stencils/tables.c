// Subscripts from constant tables of offsets, and arrays that one iteration has for itself: a lattice-Boltzmann step with walls, a stream step whose
// directions are the outermost loop, a median filter that sorts in place, neighbours of a cell, small rotations, a Runge-Kutta step.
// ARGS: 33 20
// ARGS: 3 3
// ARGS: 2 9
// ARGS: 41 5
// OFFLOAD: yes
#include "example.h"

static const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const double weight[9] = {4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36};

__attribute__((noinline)) static void collide(int nx, int ny, const TYPE *restrict f, TYPE *restrict g,
                                              const unsigned char *restrict wall, TYPE omega) {
  for (int y = 1; y < ny - 1; ++y)
    for (int x = 1; x < nx - 1; ++x) {
      TYPE in[9], rho = 0, ux = 0, uy = 0;
      for (int k = 0; k < 9; ++k) {
        in[k] = f[(size_t)k * nx * ny + (y - cy[k]) * nx + (x - cx[k])];
        rho += in[k];
        ux += cx[k] * in[k];
        uy += cy[k] * in[k];
      }
      if (wall[y * nx + x]) {
        for (int k = 0; k < 9; ++k)
          g[(size_t)k * nx * ny + y * nx + x] = in[k == 0 ? 0 : k < 5 ? (k + 1) % 4 + 1 : (k - 3) % 4 + 5];
      } else {
        ux /= rho;
        uy /= rho;
        TYPE square = (TYPE)1.5 * (ux * ux + uy * uy);
        for (int k = 0; k < 9; ++k) {
          TYPE cu = 3 * (cx[k] * ux + cy[k] * uy);
          g[(size_t)k * nx * ny + y * nx + x] =
              in[k] + omega * ((TYPE)weight[k] * rho * (1 + cu + (TYPE)0.5 * cu * cu - square) - in[k]);
        }
      }
    }
}

__attribute__((noinline)) static void stream(int nx, int ny, TYPE f[restrict 9][ny][nx], TYPE g[restrict 9][ny][nx]) {
  for (int k = 0; k < 9; ++k)
    for (int y = 1; y < ny - 1; ++y)
      for (int x = 1; x < nx - 1; ++x)
        g[k][y][x] = f[k][y - cy[k]][x - cx[k]];
}

__attribute__((noinline)) static void median(int h, int w, const TYPE *restrict a, TYPE *restrict out) {
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      TYPE v[9];
      for (int i = 0; i < 9; ++i)
        v[i] = a[(y + i / 3 - 1) * w + x + i % 3 - 1];
      for (int i = 0; i < 5; ++i)
        for (int j = i + 1; j < 9; ++j)
          if (v[j] < v[i]) {
            TYPE t = v[i];
            v[i] = v[j];
            v[j] = t;
          }
      out[y * w + x] = v[4];
    }
}

__attribute__((noinline)) static void live(int h, int w, const unsigned char *restrict a, unsigned char *restrict out) {
  static const signed char dx[8] = {-1, 0, 1, -1, 1, -1, 0, 1}, dy[8] = {-1, -1, -1, 0, 0, 1, 1, 1};
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      int s = 0;
      for (int k = 0; k < 8; ++k)
        s += a[(y + dy[k]) * w + x + dx[k]];
      out[y * w + x] = s == 3 || (s == 2 && a[y * w + x]);
    }
}

__attribute__((noinline)) static void rotate(int n, TYPE R[restrict n][3][3], TYPE v[restrict n][3]) {
  for (int i = 0; i < n; ++i) {
    TYPE t[3] = {0};
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        t[a] += R[i][a][b] * v[i][b];
    for (int a = 0; a < 3; ++a)
      v[i][a] = t[a];
  }
}

__attribute__((noinline)) static void step(int n, TYPE dt, TYPE *restrict y) {
  static const TYPE a[4] = {0, (TYPE)0.5, (TYPE)0.5, 1}, b[4] = {(TYPE)0.125, (TYPE)0.375, (TYPE)0.375, (TYPE)0.125};
  for (int i = 0; i < n; ++i) {
    TYPE k[4], s = 0;
    for (int j = 0; j < 4; ++j) {
      TYPE at = y[i] + (j ? a[j] * dt * k[j - 1] : 0);
      k[j] = 1 - at * at;
      s += b[j] * k[j];
    }
    y[i] += dt * s;
  }
}

int main(int argc, char **argv) {
  int nx = (int)example_arg(argc, argv, 1, 33), ny = (int)example_arg(argc, argv, 2, 20), n = nx * ny;
  TYPE *f = example_array(9 * (size_t)n), *g = example_array(9 * (size_t)n), *v = example_array(3 * (size_t)n);
  unsigned char *wall = malloc(n), *next = malloc(n);
  example_fill(f, 9 * (size_t)n);
  example_fill(g, 9 * (size_t)n);
  example_fill(v, 3 * (size_t)n);
  for (int i = 0; i < n; ++i)
    wall[i] = next[i] = example_bits() % 3 == 0;
  for (int t = 0; t < 2; ++t) {
    collide(nx, ny, f, g, wall, (TYPE)1.2);
    stream(nx, ny, (void *)g, (void *)f);
  }
  example_print("lattice", f, 9 * (size_t)n);
  median(ny, nx, f, g);
  example_print("median", g, n);
  live(ny, nx, wall, next);
  for (int i = 0; i < n; ++i)
    v[i] += next[i] * example_uniform();
  example_print("live", v, n);
  rotate(n, (void *)f, (void *)v);
  example_print("rotate", v, 3 * (size_t)n);
  step(3 * n, (TYPE)0.01, v);
  example_print("step", v, 3 * (size_t)n);
  return 0;
}
