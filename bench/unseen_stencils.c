/* Ten time loops as programs have them, written after the stencils of bench/stencils: `unseen_stencils SIZE [NAME]` runs each four times (or the one of that name)
 * on random data and prints a hash of what it computed. SIZE 0 is small, to be compared with the plain program; 1 is what bench/notes/017-ten-time-loops-more.md has figures of. */
#define LOW 0.0
#define HIGH 1.0
#include "loops.h"

/* Advection by a given velocity, upwind, with fluxes limited by minmod; the fluxes are arrays. */
static inline float minmod(float a, float b) { return a * b <= 0 ? 0 : fabsf(a) < fabsf(b) ? a : b; }

KERNEL void advection(int steps, int n, float dt, float u[n][n], float v[n][n], float q[n][n], float fx[n][n], float fy[n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 2; i < n - 1; i++)
      for (int j = 2; j < n - 1; j++) {
        fx[i][j] = u[i][j] * (q[i][j - 1] + 0.5f * minmod(q[i][j - 1] - q[i][j - 2], q[i][j] - q[i][j - 1]));
        fy[i][j] = v[i][j] * (q[i - 1][j] + 0.5f * minmod(q[i - 1][j] - q[i - 2][j], q[i][j] - q[i - 1][j]));
      }
    for (int i = 2; i < n - 2; i++)
      for (int j = 2; j < n - 2; j++)
        q[i][j] -= dt * (fx[i][j + 1] - fx[i][j] + fy[i + 1][j] - fy[i][j]);
  }
}

/* The Cahn-Hilliard equation: the Laplacian of a potential that has a Laplacian. */
#define LAPLACE(a, i, j) (a[(i) - 1][j] + a[(i) + 1][j] + a[i][(j) - 1] + a[i][(j) + 1] - 4 * a[i][j])

KERNEL void cahn_hilliard(int steps, int n, float dt, float c[n][n], float mu[n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        mu[i][j] = c[i][j] * c[i][j] * c[i][j] - c[i][j] - 0.5f * LAPLACE(c, i, j);
    for (int i = 2; i < n - 2; i++)
      for (int j = 2; j < n - 2; j++)
        c[i][j] += dt * LAPLACE(mu, i, j);
  }
}

/* The same in one statement, thirteen points, two arrays that change places. */
KERNEL void biharmonic(int steps, int n, float *a, float *b) {
#define A(y, x) a[(i + (y)) * n + j + (x)]
  for (int t = 0; t < steps; t++) {
    for (int i = 2; i < n - 2; i++)
      for (int j = 2; j < n - 2; j++)
        b[i * n + j] = A(0, 0) - 0.01f * (20 * A(0, 0) - 8 * (A(-1, 0) + A(1, 0) + A(0, -1) + A(0, 1)) +
                                          2 * (A(-1, -1) + A(-1, 1) + A(1, -1) + A(1, 1)) + A(-2, 0) + A(2, 0) + A(0, -2) + A(0, 2));
    float *c = a;
    a = b;
    b = c;
  }
}

/* Maxwell's equations on Yee's grid. */
KERNEL void maxwell(int steps, int n, float k, float ex[n][n][n], float ey[n][n][n], float ez[n][n][n], float hx[n][n][n],
                    float hy[n][n][n], float hz[n][n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int x = 1; x < n - 1; x++)
      for (int y = 1; y < n - 1; y++)
        for (int z = 1; z < n - 1; z++) {
          ex[x][y][z] += k * (hz[x][y][z] - hz[x][y - 1][z] - hy[x][y][z] + hy[x][y][z - 1]);
          ey[x][y][z] += k * (hx[x][y][z] - hx[x][y][z - 1] - hz[x][y][z] + hz[x - 1][y][z]);
          ez[x][y][z] += k * (hy[x][y][z] - hy[x - 1][y][z] - hx[x][y][z] + hx[x][y - 1][z]);
        }
    for (int x = 1; x < n - 1; x++)
      for (int y = 1; y < n - 1; y++)
        for (int z = 1; z < n - 1; z++) {
          hx[x][y][z] += k * (ey[x][y][z + 1] - ey[x][y][z] - ez[x][y + 1][z] + ez[x][y][z]);
          hy[x][y][z] += k * (ez[x + 1][y][z] - ez[x][y][z] - ex[x][y][z + 1] + ex[x][y][z]);
          hz[x][y][z] += k * (ex[x][y + 1][z] - ex[x][y][z] - ey[x + 1][y][z] + ey[x][y][z]);
        }
  }
}

/* Shallow water, forward in the velocities and backward in the height, with bottom friction. */
KERNEL void shallow(int steps, int n, float dt, float h[n][n], float u[n][n], float v[n][n], float depth[n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        u[i][j] = u[i][j] * 0.999f - dt * 9.81f * (h[i][j + 1] - h[i][j]);
        v[i][j] = v[i][j] * 0.999f - dt * 9.81f * (h[i + 1][j] - h[i][j]);
      }
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        h[i][j] -= dt * (depth[i][j] * (u[i][j] - u[i][j - 1]) + depth[i][j] * (v[i][j] - v[i - 1][j]));
  }
}

/* A rod, two time levels. */
KERNEL void rod(int steps, int n, float a[2][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      a[(t + 1) % 2][i] = a[t % 2][i] + 0.2f * (a[t % 2][i - 1] - 2 * a[t % 2][i] + a[t % 2][i + 1]);
}

/* Jacobi's method with a right-hand side, until an iteration changes little; the change is measured every iteration. */
KERNEL int poisson(int steps, int n, float eps, float x[n][n], float y[n][n], float f[n][n]) {
  for (int t = 0; t < steps; t++) {
    float change = 0;
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        y[i][j] = 0.25f * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1] - f[i][j]);
        change = fmaxf(change, fabsf(y[i][j] - x[i][j]));
      }
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        x[i][j] = y[i][j];
    if (change < eps)
      return t;
  }
  return steps;
}

/* Gauss and Seidel's method, red and black points in turn, in place. */
KERNEL void red_black(int steps, int n, float x[n][n], float f[n][n]) {
  for (int t = 0; t < steps; t++)
    for (int color = 0; color < 2; color++)
      for (int i = 1; i < n - 1; i++)
        for (int j = 1 + (i + color) % 2; j < n - 1; j += 2)
          x[i][j] = 0.25f * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1] - f[i][j]);
}

/* A smoother of a multigrid method: Jacobi's method, damped, with a coefficient a point, and the residual behind it. */
KERNEL void smoother(int steps, int n, float x[n][n][n], float r[n][n][n], float f[n][n][n], float d[n][n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          r[i][j][k] = f[i][j][k] - (6 * x[i][j][k] - x[i - 1][j][k] - x[i + 1][j][k] - x[i][j - 1][k] - x[i][j + 1][k] -
                                     x[i][j][k - 1] - x[i][j][k + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          x[i][j][k] += 0.1f * d[i][j][k] * r[i][j][k];
  }
}

/* Successive overrelaxation, in place, point after point. */
KERNEL void sor(int steps, int n, float w, float x[n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        x[i][j] = (1 - w) * x[i][j] + w * 0.25f * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]);
}

int main(int argc, char **argv) {
  int large = argc > 1 && atoi(argv[1]);
  int steps = large ? 100 : 13, n = large ? 4096 : 75, m = large ? 320 : 29;
  long nn = (long)n * n, mmm = (long)m * m * m;
  size_t count = nn > mmm ? nn : mmm;
  float *a[6];
  for (int i = 0; i < 6; i++)
    a[i] = floats(count);
#define P(i) ((void *)a[i])
  RUN(advection, , (steps, n, 0.01f, P(0), P(1), P(2), P(3), P(4)), a[2], nn * 4)
  RUN(cahn_hilliard, , (steps, n, 0.01f, P(2), P(3)), a[2], nn * 4)
  RUN(biharmonic, , (steps, n, a[2], a[3]), a[2], nn * 4)
  RUN(shallow, , (steps, n, 0.01f, P(2), P(3), P(4), P(5)), a[2], nn * 4)
  RUN(rod, , (steps, (int)(nn / 2), P(2)), a[2], nn * 4)
  RUN(poisson, , (steps, n, 1e-9f, P(2), P(3), P(4)), a[2], nn * 4)
  RUN(red_black, , (steps, n, P(2), P(3)), a[2], nn * 4)
  RUN(smoother, , (steps, m, P(2), P(3), P(4), P(5)), a[2], mmm * 4)
  RUN(maxwell, , (steps, m, 0.1f, P(0), P(1), P(2), P(3), P(4), P(5)), a[5], mmm * 4)
  RUN(sor, , (large ? 4 : steps, n, 1.2f, P(2)), a[2], nn * 4)
  return 0;
}
