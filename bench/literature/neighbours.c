/* Weighted sums over neighbours: stars and boxes of radius 1 to 4 in one to three dimensions, with loops over the radius and tables of coefficients, and the named ones of 9, 13, 19
 * and 27 points. */
#include "literature.h"

static const float centre[5] = {0, 0.5f, 0.4f, 0.35f, 0.3f};
static const float arm[5][5] = {{0}, {0, 0.08f}, {0, 0.06f, 0.03f}, {0, 0.05f, 0.03f, 0.02f}, {0, 0.05f, 0.03f, 0.015f, 0.01f}};

/* The new row from the old one; they change places. */
#define STAR1D(R)                                                    \
  KERNEL void star1d_r##R(int steps, int n, double *a, double *b) {  \
    for (int t = 0; t < steps; t++) {                                \
      for (int i = R; i < n - R; i++) {                              \
        double s = centre[R] * a[i];                                 \
        for (int d = 1; d <= R; d++)                                 \
          s += arm[R][d] * (a[i - d] + a[i + d]);                    \
        b[i] = s;                                                    \
      }                                                              \
      double *c = a;                                                 \
      a = b;                                                         \
      b = c;                                                         \
    }                                                                \
  }
STAR1D(1)
STAR1D(2)
STAR1D(4)

/* A moving average, divided by the number of its points. */
KERNEL void box1d_r3(int steps, int n, float *a, float *b) {
  for (int t = 0; t < steps; t++) {
    for (int i = 3; i < n - 3; i++) {
      float s = 0;
      for (int d = -3; d <= 3; d++)
        s += a[i + d];
      b[i] = s / 7;
    }
    for (int i = 3; i < n - 3; i++)
      a[i] = b[i];
  }
}

#define STAR2D(R)                                                                          \
  KERNEL void star2d_r##R(int steps, int n, float u[2][n][n]) {                            \
    for (int t = 0; t < steps; t++)                                                        \
      for (int i = R; i < n - R; i++)                                                      \
        for (int j = R; j < n - R; j++) {                                                  \
          float s = centre[R] * u[t % 2][i][j];                                            \
          for (int d = 1; d <= R; d++)                                                     \
            s += arm[R][d] * (u[t % 2][i - d][j] + u[t % 2][i + d][j] + u[t % 2][i][j - d] + u[t % 2][i][j + d]); \
          u[(t + 1) % 2][i][j] = s;                                                        \
        }                                                                                  \
  }
STAR2D(1)
STAR2D(2)
STAR2D(3)
STAR2D(4)

/* A filter of any coefficients, which its caller has. */
#define BOX2D(R)                                                                                              \
  KERNEL void box2d_r##R(int steps, int n, const float w[2 * R + 1][2 * R + 1], float a[n][n], float b[n][n]) { \
    for (int t = 0; t < steps; t++) {                                                                         \
      for (int i = R; i < n - R; i++)                                                                         \
        for (int j = R; j < n - R; j++) {                                                                     \
          float s = 0;                                                                                        \
          for (int y = -R; y <= R; y++)                                                                       \
            for (int x = -R; x <= R; x++)                                                                     \
              s += w[y + R][x + R] * a[i + y][j + x];                                                         \
          b[i][j] = s;                                                                                        \
        }                                                                                                     \
      for (int i = R; i < n - R; i++)                                                                         \
        for (int j = R; j < n - R; j++)                                                                       \
          a[i][j] = b[i][j];                                                                                  \
    }                                                                                                         \
  }
BOX2D(1)
BOX2D(2)
BOX2D(3)
BOX2D(4)

#define STAR3D(R)                                                                                    \
  KERNEL void star3d_r##R(int steps, int n, float a[n][n][n], float b[n][n][n]) {                    \
    for (int t = 0; t < steps; t++) {                                                                \
      float(*from)[n][n] = t % 2 ? b : a, (*to)[n][n] = t % 2 ? a : b;                               \
      for (int i = R; i < n - R; i++)                                                                \
        for (int j = R; j < n - R; j++)                                                              \
          for (int k = R; k < n - R; k++) {                                                          \
            float s = centre[R] * from[i][j][k];                                                     \
            for (int d = 1; d <= R; d++)                                                             \
              s += arm[R][d] * (from[i - d][j][k] + from[i + d][j][k] + from[i][j - d][k] + from[i][j + d][k] + from[i][j][k - d] + from[i][j][k + d]); \
            to[i][j][k] = s;                                                                         \
          }                                                                                          \
    }                                                                                                \
  }
STAR3D(1)
STAR3D(2)
STAR3D(3)
STAR3D(4)

#define BOX3D(R)                                                                        \
  KERNEL void box3d_r##R(int steps, int n, float u[2][n][n][n]) {                       \
    for (int t = 0; t < steps; t++)                                                     \
      for (int i = R; i < n - R; i++)                                                   \
        for (int j = R; j < n - R; j++)                                                 \
          for (int k = R; k < n - R; k++) {                                             \
            float s = 0;                                                                \
            for (int z = -R; z <= R; z++)                                               \
              for (int y = -R; y <= R; y++)                                             \
                for (int x = -R; x <= R; x++)                                           \
                  s += u[t & 1][i + z][j + y][k + x];                                   \
            u[(t + 1) & 1][i][j][k] = s / ((2 * R + 1) * (2 * R + 1) * (2 * R + 1));    \
          }                                                                             \
  }
BOX3D(1)
BOX3D(2)
BOX3D(3)
BOX3D(4)

/* The compact Laplacian of nine points. */
KERNEL void compact9(int steps, int nx, int ny, double dt, double *u, double *v) {
#define AT(y, x) u[(j + (y)) * nx + i + (x)]
  for (int t = 0; t < steps; t++) {
    for (int j = 1; j < ny - 1; j++)
      for (int i = 1; i < nx - 1; i++) {
        double sides = AT(0, -1) + AT(0, 1) + AT(-1, 0) + AT(1, 0);
        double corners = AT(-1, -1) + AT(-1, 1) + AT(1, -1) + AT(1, 1);
        v[j * nx + i] = AT(0, 0) + dt * (4 * sides + corners - 20 * AT(0, 0)) / 6.0;
      }
    double *swap = u;
    u = v;
    v = swap;
  }
#undef AT
}

/* A plate that bends: the Laplacian's Laplacian, thirteen points. */
KERNEL void plate13(int steps, int n, float k, float w[3][n][n]) {
  for (int t = 1; t <= steps; t++) {
    float(*new)[n] = w[(t + 1) % 3], (*now)[n] = w[t % 3], (*old)[n] = w[(t + 2) % 3];
    for (int i = 2; i < n - 2; i++)
      for (int j = 2; j < n - 2; j++) {
        float bend = 20 * now[i][j] - 8 * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]) +
                     2 * (now[i - 1][j - 1] + now[i - 1][j + 1] + now[i + 1][j - 1] + now[i + 1][j + 1]) + now[i - 2][j] + now[i + 2][j] + now[i][j - 2] + now[i][j + 2];
        new[i][j] = 2 * now[i][j] - old[i][j] - k * bend;
      }
  }
}

/* All neighbours but the corners. */
KERNEL void poisson19(int steps, int n, float a[n][n][n], float b[n][n][n], float f[n][n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++) {
          float faces = a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k] + a[i][j][k - 1] + a[i][j][k + 1];
          float edges = 0;
          for (int p = -1; p <= 1; p += 2)
            for (int q = -1; q <= 1; q += 2)
              edges += a[i + p][j + q][k] + a[i + p][j][k + q] + a[i][j + p][k + q];
          b[i][j][k] = (2 * faces + edges - f[i][j][k]) / 24;
        }
    memcpy(a, b, sizeof(float) * n * n * n);
  }
}

/* Weights by distance, 27 points. */
KERNEL void heat27(int steps, int n, const double w[4], double a[n][n][n], double b[n][n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++) {
          double s = 0;
          for (int z = -1; z <= 1; z++)
            for (int y = -1; y <= 1; y++)
              for (int x = -1; x <= 1; x++)
                s += w[abs(x) + abs(y) + abs(z)] * a[i + z][j + y][k + x];
          b[i][j][k] = s;
        }
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          a[i][j][k] = b[i][j][k];
  }
}

int main(int argc, char **argv) {
  begin(argc, argv);
  int steps = SIZE(100, 13), few = SIZE(40, 7), line = SIZE(1 << 24, 5000), n = SIZE(4096, 90), m = SIZE(320, 30);
  size_t nn = (size_t)n * n, mmm = (size_t)m * m * m;
#define LINE(R) RUN(star1d_r##R, line, steps, 16, double *a = doubles(line, 0, 1); double *b = doubles(line, 0, 1), (steps, line, a, b))
  LINE(1)
  LINE(2)
  LINE(4)
  RUN(box1d_r3, line, steps, 8, float *a = floats(line, 0, 1); float *b = floats(line, 0, 1), (steps, line, a, b))
#define STAR(R) RUN(star2d_r##R, nn, steps, 8, float *u = floats(2 * nn, 0, 1), (steps, n, (void *)u))
  STAR(1)
  STAR(2)
  STAR(3)
  STAR(4)
#define BOX(R)                                                                                                                              \
  RUN(box2d_r##R, nn, steps, 8, float *w = floats((2 * R + 1) * (2 * R + 1), 0, 2.0 / ((2 * R + 1) * (2 * R + 1))); float *a = floats(nn, 0, 1); \
      float *b = floats(nn, 0, 1), (steps, n, (void *)w, (void *)a, (void *)b))
  BOX(1)
  BOX(2)
  BOX(3)
  BOX(4)
#define CUBE(R) RUN(star3d_r##R, mmm, few, 8, float *a = floats(mmm, 0, 1); float *b = floats(mmm, 0, 1), (few, m, (void *)a, (void *)b))
  CUBE(1)
  CUBE(2)
  CUBE(3)
  CUBE(4)
#define FULL(R) RUN(box3d_r##R, mmm, few, 8, float *u = floats(2 * mmm, 0, 1), (few, m, (void *)u))
  FULL(1)
  FULL(2)
  FULL(3)
  FULL(4)
  RUN(compact9, nn, steps, 16, double *u = doubles(nn, 0, 1); double *v = doubles(nn, 0, 1), (steps, n, n, 0.1, u, v))
  RUN(plate13, nn, steps, 12, float *w = floats(3 * nn, -1, 1), (steps, n, 0.01f, (void *)w))
  RUN(poisson19, mmm, few, 12, float *a = floats(mmm, 0, 1); float *b = floats(mmm, 0, 1); float *f = floats(mmm, 0, 1), (few, m, (void *)a, (void *)b, (void *)f))
  RUN(heat27, mmm, few, 16, double *w = doubles(4, 0, 0.07); double *a = doubles(mmm, 0, 1); double *b = doubles(mmm, 0, 1), (few, m, w, (void *)a, (void *)b))
  return 0;
}
