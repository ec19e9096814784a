// Periodic borders as people write them, with indices of 32 bits: by selections, whose products with the row length are bounded together with
// the counter, and by flat indices that LLVM turns into sums with comparisons (`c - (x != 0)`).
// ARGS: 33 17
// ARGS: 1 1
// ARGS: 1 5
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void react(int n, int m, int steps, double *u, double *v, double *u2, double *v2) {
  for (int s = 0; s < steps; ++s) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) {
        int up = i == 0 ? n - 1 : i - 1, down = i == n - 1 ? 0 : i + 1;
        int left = j == 0 ? m - 1 : j - 1, right = j == m - 1 ? 0 : j + 1;
        double a = u[up * m + j] + u[down * m + j] + u[i * m + left] + u[i * m + right] - 4.0 * u[i * m + j];
        double b = v[up * m + j] + v[down * m + j] + v[i * m + left] + v[i * m + right] - 4.0 * v[i * m + j];
        double r = u[i * m + j] * v[i * m + j] * v[i * m + j];
        u2[i * m + j] = u[i * m + j] + (0.16 * a - r + 0.035 * (1.0 - u[i * m + j]));
        v2[i * m + j] = v[i * m + j] + (0.08 * b + r - 0.1 * v[i * m + j]);
      }
    memcpy(u, u2, sizeof(double) * n * m);
    memcpy(v, v2, sizeof(double) * n * m);
  }
}

__attribute__((noinline)) static void layers(int nx, int ny, int nz, int steps, const double *p, double *in, double *out) {
  for (int s = 0; s < steps; ++s) {
    for (int z = 0; z < nz; ++z)
      for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) {
          int c = x + y * nx + z * nx * ny;
          int w = x == 0 ? c : c - 1, e = x == nx - 1 ? c : c + 1;
          int n = y == 0 ? c : c - nx, q = y == ny - 1 ? c : c + nx;
          int b = z == 0 ? c : c - nx * ny, t = z == nz - 1 ? c : c + nx * ny;
          out[c] = 0.3 * in[c] + 0.1 * (in[w] + in[e]) + 0.11 * (in[n] + in[q]) + 0.12 * (in[b] + in[t]) + 0.01 * p[c];
        }
    double *old = in;
    in = out;
    out = old;
  }
}

__attribute__((noinline)) static void shifted(int n, const double *a, double *b) {
  for (int i = 0; i < n; ++i)
    b[i] = a[i + (i > 3) - (i == n - 1)] + (i % 3 == 1);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  double *field[4];
  for (int k = 0; k < 4; ++k) {
    field[k] = example_array(3 * count + 2);
    example_fill(field[k], 3 * count + 2);
  }
  react(n, m, 4, field[0], field[1], field[2], field[3]);
  example_print("u", field[0], count);
  example_print("v", field[1], count);
  layers(n, m, 3, 5, field[0], field[1], field[2]);
  example_print("in", field[1], 3 * count);
  example_print("out", field[2], 3 * count);
  shifted((int)count, field[2], field[3]);
  example_print("shifted", field[3], count);
  return 0;
}
