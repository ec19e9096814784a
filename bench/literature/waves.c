/* Waves: acoustic of orders 2 to 16, elastic, electromagnetic, and nonlinear ones. */
#include "literature.h"

/* A string, whose three states change places. */
KERNEL void string1d(int steps, int n, double c, double *old, double *now, double *new) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      new[i] = 2 * now[i] - old[i] + c * (now[i - 1] - 2 * now[i] + now[i + 1]);
    double *spare = old;
    old = now;
    now = new;
    new = spare;
  }
}

/* Coefficients of the second derivative by half of the order. */
static const float second[9][9] = {
    [1] = {-2.0f, 1.0f},
    [2] = {-5.0f / 2, 4.0f / 3, -1.0f / 12},
    [4] = {-205.0f / 72, 8.0f / 5, -1.0f / 5, 8.0f / 315, -1.0f / 560},
    [8] = {-3.054844f, 1.777778f, -0.311111f, 0.0754209f, -0.0176768f, 0.00348096f, -0.000518f, 0.0000507429f, -0.00000242813f},
};

/* The wave equation with a velocity a point; the state before last is overwritten. */
#define ACOUSTIC2D(NAME, R)                                                                      \
  KERNEL void NAME(int steps, int n, float *prev, float *curr, const float *vel) {               \
    for (int t = 0; t < steps; t++) {                                                            \
      for (int i = R; i < n - R; i++)                                                            \
        for (int j = R; j < n - R; j++) {                                                        \
          float lap = 2 * second[R][0] * curr[i * n + j];                                        \
          for (int r = 1; r <= R; r++)                                                           \
            lap += second[R][r] * (curr[i * n + j - r] + curr[i * n + j + r] + curr[(i - r) * n + j] + curr[(i + r) * n + j]); \
          prev[i * n + j] = 2 * curr[i * n + j] - prev[i * n + j] + vel[i * n + j] * lap;        \
        }                                                                                        \
      float *swap = prev;                                                                        \
      prev = curr;                                                                               \
      curr = swap;                                                                               \
    }                                                                                            \
  }
ACOUSTIC2D(acoustic2d_o2, 1)
ACOUSTIC2D(acoustic2d_o4, 2)
ACOUSTIC2D(acoustic2d_o8, 4)
ACOUSTIC2D(acoustic2d_o16, 8)

/* The same in three dimensions, coefficients from the caller, states by the time's remainder. */
#define ACOUSTIC3D(NAME, R)                                                                                       \
  KERNEL void NAME(int steps, int n, const float c[R + 1], float u[3][n][n][n], float m[n][n][n]) {               \
    for (int t = 1; t <= steps; t++)                                                                              \
      for (int x = R; x < n - R; x++)                                                                             \
        for (int y = R; y < n - R; y++)                                                                           \
          for (int z = R; z < n - R; z++) {                                                                       \
            float lap = 3 * c[0] * u[t % 3][x][y][z];                                                             \
            for (int r = 1; r <= R; r++)                                                                          \
              lap += c[r] * (u[t % 3][x - r][y][z] + u[t % 3][x + r][y][z] + u[t % 3][x][y - r][z] + u[t % 3][x][y + r][z] + \
                             u[t % 3][x][y][z - r] + u[t % 3][x][y][z + r]);                                      \
            u[(t + 1) % 3][x][y][z] = 2 * u[t % 3][x][y][z] - u[(t + 2) % 3][x][y][z] + m[x][y][z] * lap;         \
          }                                                                                                       \
  }
ACOUSTIC3D(acoustic3d_o4, 2)
ACOUSTIC3D(acoustic3d_o8, 4)

/* A layer that absorbs, and a source in every step. */
KERNEL void sponge2d(int steps, int n, float (*old)[n], float (*now)[n], float (*damp)[n], const float *source) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        float lap = now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1] - 4 * now[i][j];
        old[i][j] = damp[i][j] * (2 * now[i][j] - damp[i][j] * old[i][j] + 0.2f * lap);
      }
    old[n / 2][n / 2] += source[t];
    float(*swap)[n] = old;
    old = now;
    now = swap;
  }
}

/* All states are kept: the adjoint needs them. */
KERNEL void history2d(int steps, int n, float u[steps + 2][n][n], float v[n][n]) {
  for (int t = 1; t <= steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[t + 1][i][j] = 2 * u[t][i][j] - u[t - 1][i][j] + v[i][j] * (u[t][i - 1][j] + u[t][i + 1][j] + u[t][i][j - 1] + u[t][i][j + 1] - 4 * u[t][i][j]);
}

/* Velocities and stresses on a staggered grid, differences of order 4. */
struct elastic {
  float *vx, *vz, *xx, *zz, *xz, *density, *lambda, *mu;
};
#define DX(f, a, b, c, d) (1.125f * (s->f[i + (c)] - s->f[i + (b)]) - 0.0416667f * (s->f[i + (d)] - s->f[i + (a)]))

static void velocities(struct elastic *s, int n, float dt) {
  for (int z = 2; z < n - 2; z++)
    for (int x = 2; x < n - 2; x++) {
      int i = z * n + x;
      s->vx[i] += dt / s->density[i] * (DX(xx, -2, -1, 0, 1) + DX(xz, -2 * n, -n, 0, n));
      s->vz[i] += dt / s->density[i] * (DX(xz, -1, 0, 1, 2) + DX(zz, -n, 0, n, 2 * n));
    }
}

static void stresses(struct elastic *s, int n, float dt) {
  for (int z = 2; z < n - 2; z++)
    for (int x = 2; x < n - 2; x++) {
      int i = z * n + x;
      float dvx = DX(vx, -1, 0, 1, 2), dvz = DX(vz, -2 * n, -n, 0, n);
      s->xx[i] += dt * ((s->lambda[i] + 2 * s->mu[i]) * dvx + s->lambda[i] * dvz);
      s->zz[i] += dt * ((s->lambda[i] + 2 * s->mu[i]) * dvz + s->lambda[i] * dvx);
      s->xz[i] += dt * s->mu[i] * (DX(vx, -n, 0, n, 2 * n) + DX(vz, -2, -1, 0, 1));
    }
}

KERNEL void elastic2d(int steps, int n, float dt, struct elastic *s) {
  for (int t = 0; t < steps; t++) {
    velocities(s, n, dt);
    stresses(s, n, dt);
  }
}

#define EACH(from, to)               \
  for (int x = from; x < (to); x++)   \
    for (int y = from; y < (to); y++) \
      for (int z = from; z < (to); z++)

/* Three velocities and six stresses, order 2. */
KERNEL void elastic3d(int steps, int n, float b, float la, float mu, float vx[n][n][n], float vy[n][n][n], float vz[n][n][n], float xx[n][n][n], float yy[n][n][n],
                      float zz[n][n][n], float xy[n][n][n], float xz[n][n][n], float yz[n][n][n]) {
  for (int t = 0; t < steps; t++) {
    EACH(1, n - 1) {
      vx[x][y][z] += b * (xx[x + 1][y][z] - xx[x][y][z] + xy[x][y][z] - xy[x][y - 1][z] + xz[x][y][z] - xz[x][y][z - 1]);
      vy[x][y][z] += b * (xy[x][y][z] - xy[x - 1][y][z] + yy[x][y + 1][z] - yy[x][y][z] + yz[x][y][z] - yz[x][y][z - 1]);
      vz[x][y][z] += b * (xz[x][y][z] - xz[x - 1][y][z] + yz[x][y][z] - yz[x][y - 1][z] + zz[x][y][z + 1] - zz[x][y][z]);
    }
    EACH(1, n - 1) {
      float ex = vx[x][y][z] - vx[x - 1][y][z], ey = vy[x][y][z] - vy[x][y - 1][z], ez = vz[x][y][z] - vz[x][y][z - 1], all = la * (ex + ey + ez);
      xx[x][y][z] += all + 2 * mu * ex;
      yy[x][y][z] += all + 2 * mu * ey;
      zz[x][y][z] += all + 2 * mu * ez;
      xy[x][y][z] += mu * (vx[x][y + 1][z] - vx[x][y][z] + vy[x + 1][y][z] - vy[x][y][z]);
      xz[x][y][z] += mu * (vx[x][y][z + 1] - vx[x][y][z] + vz[x + 1][y][z] - vz[x][y][z]);
      yz[x][y][z] += mu * (vy[x][y][z + 1] - vy[x][y][z] + vz[x][y + 1][z] - vz[x][y][z]);
    }
  }
}

/* Maxwell's equations in a plane, with a hard source at one side. */
KERNEL void maxwell2d(int steps, int nx, int ny, double ez[nx][ny], double hx[nx][ny], double hy[nx][ny]) {
  for (int t = 0; t < steps; t++) {
    for (int j = 0; j < ny; j++)
      ez[0][j] = t / 16.0;
    for (int i = 1; i < nx; i++)
      for (int j = 1; j < ny; j++)
        ez[i][j] += 0.5 * (hy[i][j] - hy[i - 1][j] - hx[i][j] + hx[i][j - 1]);
    for (int i = 0; i < nx; i++)
      for (int j = 0; j < ny - 1; j++)
        hx[i][j] -= 0.5 * (ez[i][j + 1] - ez[i][j]);
    for (int i = 0; i < nx - 1; i++)
      for (int j = 0; j < ny; j++)
        hy[i][j] += 0.5 * (ez[i + 1][j] - ez[i][j]);
  }
}

/* Yee's scheme with coefficients of a material. */
KERNEL void maxwell3d(int steps, int n, float ex[n][n][n], float ey[n][n][n], float ez[n][n][n], float hx[n][n][n], float hy[n][n][n], float hz[n][n][n],
                      float ca[n][n][n], float cb[n][n][n]) {
  for (int t = 0; t < steps; t++) {
    EACH(1, n - 1) {
      ex[x][y][z] = ca[x][y][z] * ex[x][y][z] + cb[x][y][z] * (hz[x][y][z] - hz[x][y - 1][z] - hy[x][y][z] + hy[x][y][z - 1]);
      ey[x][y][z] = ca[x][y][z] * ey[x][y][z] + cb[x][y][z] * (hx[x][y][z] - hx[x][y][z - 1] - hz[x][y][z] + hz[x - 1][y][z]);
      ez[x][y][z] = ca[x][y][z] * ez[x][y][z] + cb[x][y][z] * (hy[x][y][z] - hy[x - 1][y][z] - hx[x][y][z] + hx[x][y - 1][z]);
    }
    EACH(1, n - 1) {
      hx[x][y][z] += 0.3f * (ey[x][y][z + 1] - ey[x][y][z] - ez[x][y + 1][z] + ez[x][y][z]);
      hy[x][y][z] += 0.3f * (ez[x + 1][y][z] - ez[x][y][z] - ex[x][y][z + 1] + ex[x][y][z]);
      hz[x][y][z] += 0.3f * (ex[x][y + 1][z] - ex[x][y][z] - ey[x + 1][y][z] + ey[x][y][z]);
    }
  }
}

/* A field with a potential of fourth order. */
KERNEL void phi4(int steps, int n, float k, float (*old)[n], float (*now)[n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        old[i][j] = 2 * now[i][j] - old[i][j] + k * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1] - 4 * now[i][j]) - k * now[i][j] * now[i][j] * now[i][j] / 6;
    float(*swap)[n] = now;
    now = old;
    old = swap;
  }
}

int main(int argc, char **argv) {
  begin(argc, argv);
  int steps = SIZE(100, 13), few = SIZE(40, 7), line = SIZE(1 << 24, 5000), n = SIZE(4096, 90), m = SIZE(320, 30), h = SIZE(2048, 60);
  size_t nn = (size_t)n * n, mmm = (size_t)m * m * m, hh = (size_t)h * h;
  RUN(string1d, line, steps, 24, double *a = doubles(line, -1, 1); double *b = doubles(line, -1, 1); double *c = doubles(line, -1, 1), (steps, line, 0.25, a, b, c))
#define PLANE(NAME) RUN(NAME, nn, steps, 16, float *a = floats(nn, -1, 1); float *b = floats(nn, -1, 1); float *v = floats(nn, 0, 0.2), (steps, n, a, b, v))
  PLANE(acoustic2d_o2)
  PLANE(acoustic2d_o4)
  PLANE(acoustic2d_o8)
  PLANE(acoustic2d_o16)
#define SPACE(NAME, R) \
  RUN(NAME, mmm, few, 16, float *c = floats(R + 1, -0.5, 0.5); float *u = floats(3 * mmm, -1, 1); float *v = floats(mmm, 0, 0.1), (few, m, c, (void *)u, (void *)v))
  SPACE(acoustic3d_o4, 2)
  SPACE(acoustic3d_o8, 4)
  RUN(sponge2d, nn, steps, 16, float *a = floats(nn, -1, 1); float *b = floats(nn, -1, 1); float *d = floats(nn, 0.9, 1); float *s = floats(steps, -1, 1),
      (steps, n, (void *)a, (void *)b, (void *)d, s))
  RUN(history2d, hh, steps, 16, float *u = floats((steps + 2) * hh, -1, 1); float *v = floats(hh, 0, 0.2), (steps, h, (void *)u, (void *)v))
  RUN(elastic2d, nn, steps, 52, struct elastic s = {.vx = floats(nn, -1, 1)}; s.vz = floats(nn, -1, 1); s.xx = floats(nn, -1, 1); s.zz = floats(nn, -1, 1);
      s.xz = floats(nn, -1, 1); s.density = floats(nn, 1, 2); s.lambda = floats(nn, 0.5, 1); s.mu = floats(nn, 0.5, 1), (steps, n, 0.1f, &s))
  RUN(elastic3d, mmm, few, 72, float *a[9]; for (int i = 0; i < 9; i++) a[i] = floats(mmm, -1, 1),
      (few, m, 0.1f, 0.1f, 0.1f, (void *)a[0], (void *)a[1], (void *)a[2], (void *)a[3], (void *)a[4], (void *)a[5], (void *)a[6], (void *)a[7], (void *)a[8]))
  RUN(maxwell2d, hh, steps, 48, double *a[3]; for (int i = 0; i < 3; i++) a[i] = doubles(hh, -1, 1), (steps, h, h, (void *)a[0], (void *)a[1], (void *)a[2]))
  RUN(maxwell3d, mmm, few, 56, float *a[6]; for (int i = 0; i < 6; i++) a[i] = floats(mmm, -1, 1); float *ca = floats(mmm, 0.9, 1); float *cb = floats(mmm, 0.2, 0.3),
      (few, m, (void *)a[0], (void *)a[1], (void *)a[2], (void *)a[3], (void *)a[4], (void *)a[5], (void *)ca, (void *)cb))
  RUN(phi4, nn, steps, 12, float *a = floats(nn, -1, 1); float *b = floats(nn, -1, 1), (steps, n, 0.1f, (void *)a, (void *)b))
  return 0;
}
