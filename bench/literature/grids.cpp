/* Stencils of C++: vectors behind a class, templates, lambdas. */
#include "literature.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

struct Grid {
  int rows, cols;
  float *data;
  float &operator()(int i, int j) { return data[(size_t)i * cols + j]; }
  float operator()(int i, int j) const { return data[(size_t)i * cols + j]; }
};

/* Two grids that change places. */
KERNEL void heat_class(int steps, Grid &a, Grid &b) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < a.rows - 1; i++)
      for (int j = 1; j < a.cols - 1; j++)
        b(i, j) = a(i, j) + 0.1f * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1) - 4 * a(i, j));
    std::swap(a.data, b.data);
  }
}

/* A filter whose radius is a template's argument. */
template <int R> static float filtered(const Grid &g, int i, int j, const std::array<float, 2 * R + 1> &w) {
  float s = 0;
  for (int y = -R; y <= R; y++)
    for (int x = -R; x <= R; x++)
      s += w[y + R] * w[x + R] * g(i + y, j + x);
  return s;
}

KERNEL void blur_template(int steps, Grid &a, Grid &b) {
  const std::array<float, 5> w{0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
  for (int t = 0; t < steps; t++) {
    for (int i = 2; i < a.rows - 2; i++)
      for (int j = 2; j < a.cols - 2; j++)
        b(i, j) = filtered<2>(a, i, j, w);
    std::swap(a.data, b.data);
  }
}

/* Indices held to the grid by clamp. */
KERNEL void clamped(int steps, int h, int w, float *a, float *b) {
  auto at = [&](const float *p, int y, int x) { return p[std::clamp(y, 0, h - 1) * w + std::clamp(x, 0, w - 1)]; };
  for (int t = 0; t < steps; t++) {
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        b[y * w + x] = (at(a, y - 1, x) + at(a, y + 1, x) + at(a, y, x - 1) + at(a, y, x + 1) + 4 * at(a, y, x)) / 8;
    std::swap(a, b);
  }
}

/* The middle of three, along rows and columns in turn. */
static float middle(float a, float b, float c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }

KERNEL void median(int steps, int n, float *a, float *b) {
  for (int t = 0; t < steps; t++) {
    for (int y = 1; y < n - 1; y++)
      for (int x = 1; x < n - 1; x++)
        b[y * n + x] = middle(a[y * n + x - 1], a[y * n + x], a[y * n + x + 1]);
    for (int y = 1; y < n - 1; y++)
      for (int x = 1; x < n - 1; x++)
        a[y * n + x] = middle(b[(y - 1) * n + x], b[y * n + x], b[(y + 1) * n + x]);
  }
}

/* Distances from a front that moves: the larger slope of both sides, and a root. */
KERNEL void eikonal(int steps, int n, double dt, double *phi, double *next) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        const double *p = phi + (size_t)i * n + j;
        double a = std::max(p[0] - p[-1], 0.0), b = std::min(p[1] - p[0], 0.0), c = std::max(p[0] - p[-n], 0.0), d = std::min(p[n] - p[0], 0.0);
        next[(size_t)i * n + j] = p[0] - dt * (std::sqrt(std::max(a * a, b * b) + std::max(c * c, d * d)) - 1);
      }
    std::swap(phi, next);
  }
}

int main(int argc, char **argv) {
  begin(argc, argv);
  int steps = SIZE(100, 13), n = SIZE(4096, 90);
  size_t nn = (size_t)n * n;
#define TWO Grid a{n, n, floats(nn, 0, 1)}; Grid b{n, n, floats(nn, 0, 1)}; float *first = a.data; float *second = b.data
  RUN(heat_class, nn, steps, 8, TWO, (steps, (a.data = first, a), (b.data = second, b)))
  RUN(blur_template, nn, steps, 8, TWO, (steps, (a.data = first, a), (b.data = second, b)))
  RUN(clamped, nn, steps, 8, float *a = floats(nn, 0, 1); float *b = floats(nn, 0, 1), (steps, n, n, a, b))
  RUN(median, nn, steps, 16, float *a = floats(nn, 0, 1); float *b = floats(nn, 0, 1), (steps, n, a, b))
  RUN(eikonal, nn, steps, 16, double *a = doubles(nn, 0, 1); double *b = doubles(nn, 0, 1), (steps, n, 0.1, a, b))
  return 0;
}
