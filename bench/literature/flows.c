/* Flows: advection, shallow water, Euler, vorticity, lattices of Boltzmann; and solvers: Jacobi, red and black, norms, multigrid. */
#include "literature.h"

static inline double minmod(double a, double b) { return a * b <= 0 ? 0 : fabs(a) < fabs(b) ? a : b; }

/* Upwind, by the sign of the velocity: max and min. */
KERNEL void upwind2d(int steps, int n, float dt, float *q, float *new, const float *u, const float *v) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        int p = i * n + j;
        float left = q[p] - q[p - 1], right = q[p + 1] - q[p], below = q[p] - q[p - n], above = q[p + n] - q[p];
        new[p] = q[p] - dt * (fmaxf(u[p], 0) * left + fminf(u[p], 0) * right + fmaxf(v[p], 0) * below + fminf(v[p], 0) * above);
      }
    float *swap = q;
    q = new;
    new = swap;
  }
}

/* The same by an if. */
KERNEL void upwind1d(int steps, int n, double *q, double *new, const double *u) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      if (u[i] > 0)
        new[i] = q[i] - u[i] * (q[i] - q[i - 1]);
      else
        new[i] = q[i] - u[i] * (q[i + 1] - q[i]);
    for (int i = 1; i < n - 1; i++)
      q[i] = new[i];
  }
}

/* Fluxes with a limiter, kept in an array; periodic by ghost points. */
KERNEL void limited1d(int steps, int n, double c, double *q, double *flux) {
  for (int t = 0; t < steps; t++) {
    q[0] = q[n - 4];
    q[1] = q[n - 3];
    q[n - 2] = q[2];
    q[n - 1] = q[3];
    for (int i = 2; i < n - 1; i++)
      flux[i] = c * (q[i - 1] + 0.5 * (1 - c) * minmod(q[i - 1] - q[i - 2], q[i] - q[i - 1]));
    for (int i = 2; i < n - 2; i++)
      q[i] -= flux[i + 1] - flux[i];
  }
}

/* Burgers' equation in two velocities. */
KERNEL void burgers2d(int steps, int n, double dt, double nu, double u[n][n], double v[n][n], double un[n][n], double vn[n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        un[i][j] = u[i][j];
        vn[i][j] = v[i][j];
      }
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        u[i][j] = un[i][j] - dt * un[i][j] * (un[i][j] - un[i][j - 1]) - dt * vn[i][j] * (un[i][j] - un[i - 1][j]) +
                  nu * (un[i][j + 1] + un[i][j - 1] + un[i + 1][j] + un[i - 1][j] - 4 * un[i][j]);
        v[i][j] = vn[i][j] - dt * un[i][j] * (vn[i][j] - vn[i][j - 1]) - dt * vn[i][j] * (vn[i][j] - vn[i - 1][j]) +
                  nu * (vn[i][j + 1] + vn[i][j - 1] + vn[i + 1][j] + vn[i - 1][j] - 4 * vn[i][j]);
      }
  }
}

/* Shallow water by Lax and Friedrichs: divisions by the height; walls that reflect. */
KERNEL void shallow_water(int steps, int n, float r, float h[2][n][n], float hu[2][n][n], float hv[2][n][n]) {
  for (int t = 0; t < steps; t++) {
    int a = t % 2, b = 1 - a;
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
#define PRESSURE(y, x) (4.9f * h[a][y][x] * h[a][y][x])
#define MEAN(f) (0.25f * (f[a][i - 1][j] + f[a][i + 1][j] + f[a][i][j - 1] + f[a][i][j + 1]))
        h[b][i][j] = MEAN(h) - r * (hu[a][i][j + 1] - hu[a][i][j - 1] + hv[a][i + 1][j] - hv[a][i - 1][j]);
        hu[b][i][j] = MEAN(hu) - r * (hu[a][i][j + 1] * hu[a][i][j + 1] / h[a][i][j + 1] + PRESSURE(i, j + 1) - hu[a][i][j - 1] * hu[a][i][j - 1] / h[a][i][j - 1] -
                                      PRESSURE(i, j - 1) + hu[a][i + 1][j] * hv[a][i + 1][j] / h[a][i + 1][j] - hu[a][i - 1][j] * hv[a][i - 1][j] / h[a][i - 1][j]);
        hv[b][i][j] = MEAN(hv) - r * (hv[a][i + 1][j] * hv[a][i + 1][j] / h[a][i + 1][j] + PRESSURE(i + 1, j) - hv[a][i - 1][j] * hv[a][i - 1][j] / h[a][i - 1][j] -
                                      PRESSURE(i - 1, j) + hu[a][i][j + 1] * hv[a][i][j + 1] / h[a][i][j + 1] - hu[a][i][j - 1] * hv[a][i][j - 1] / h[a][i][j - 1]);
      }
    for (int i = 0; i < n; i++) {
      h[b][i][0] = h[b][i][1];
      h[b][i][n - 1] = h[b][i][n - 2];
      h[b][0][i] = h[b][1][i];
      h[b][n - 1][i] = h[b][n - 2][i];
      hu[b][i][0] = -hu[b][i][1];
      hu[b][i][n - 1] = -hu[b][i][n - 2];
      hv[b][0][i] = -hv[b][1][i];
      hv[b][n - 1][i] = -hv[b][n - 2][i];
    }
  }
}

/* Euler's equations by Rusanov's fluxes. */
struct euler {
  double *rho, *mx, *my, *e, *nrho, *nmx, *nmy, *ne;
};

static void flux(double rho, double m, double o, double e, double *f) {
  double v = m / rho, p = 0.4 * (e - 0.5 * (m * m + o * o) / rho);
  f[0] = m;
  f[1] = m * v + p;
  f[2] = o * v;
  f[3] = (e + p) * v;
  f[4] = fabs(v) + sqrt(1.4 * p / rho);
}

KERNEL void euler2d(int steps, int n, double k, struct euler s) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        int at[5] = {i * n + j, i * n + j - 1, i * n + j + 1, (i - 1) * n + j, (i + 1) * n + j};
        double f[5][5], g[5][5], d[4];
        for (int q = 0; q < 5; q++) {
          flux(s.rho[at[q]], s.mx[at[q]], s.my[at[q]], s.e[at[q]], f[q]);
          flux(s.rho[at[q]], s.my[at[q]], s.mx[at[q]], s.e[at[q]], g[q]);
        }
        double *u[4] = {s.rho, s.mx, s.my, s.e}, *w[4] = {s.nrho, s.nmx, s.nmy, s.ne};
        static const int order[4] = {0, 2, 1, 3};
        for (int c = 0; c < 4; c++) {
          double l = 0.5 * (f[1][c] + f[0][c]) - 0.5 * fmax(f[1][4], f[0][4]) * (u[c][at[0]] - u[c][at[1]]);
          double r = 0.5 * (f[0][c] + f[2][c]) - 0.5 * fmax(f[0][4], f[2][4]) * (u[c][at[2]] - u[c][at[0]]);
          double b = 0.5 * (g[3][order[c]] + g[0][order[c]]) - 0.5 * fmax(g[3][4], g[0][4]) * (u[c][at[0]] - u[c][at[3]]);
          double a = 0.5 * (g[0][order[c]] + g[4][order[c]]) - 0.5 * fmax(g[0][4], g[4][4]) * (u[c][at[4]] - u[c][at[0]]);
          d[c] = r - l + a - b;
        }
        for (int c = 0; c < 4; c++)
          w[c][at[0]] = u[c][at[0]] - k * d[c];
      }
    struct euler o = s;
    s.rho = o.nrho, s.mx = o.nmx, s.my = o.nmy, s.e = o.ne, s.nrho = o.rho, s.nmx = o.mx, s.nmy = o.my, s.ne = o.e;
  }
}

/* A cavity with a moving lid: vorticity, and ten sweeps for the stream function in each step. */
KERNEL void cavity(int steps, int n, float w[n][n], float wn[n][n], float psi[n][n], float pn[n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int k = 0; k < 10; k++) {
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
          pn[i][j] = 0.25f * (psi[i - 1][j] + psi[i + 1][j] + psi[i][j - 1] + psi[i][j + 1] + w[i][j]);
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
          psi[i][j] = pn[i][j];
    }
    for (int i = 0; i < n; i++) {
      w[i][0] = -2 * psi[i][1];
      w[i][n - 1] = -2 * psi[i][n - 2];
      w[0][i] = -2 * psi[1][i];
      w[n - 1][i] = -2 * (psi[n - 2][i] + 0.01f);
    }
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        float u = psi[i + 1][j] - psi[i - 1][j], v = psi[i][j - 1] - psi[i][j + 1];
        wn[i][j] = w[i][j] - 0.02f * (u * (w[i][j + 1] - w[i][j - 1]) + v * (w[i + 1][j] - w[i - 1][j])) +
                   0.05f * (w[i - 1][j] + w[i + 1][j] + w[i][j - 1] + w[i][j + 1] - 4 * w[i][j]);
      }
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        w[i][j] = wn[i][j];
  }
}

/* Nine populations on a torus, pulled, with loops over the directions. */
static const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const float weight9[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};

KERNEL void d2q9(int steps, int n, float omega, float *f, float *g) {
  for (int t = 0; t < steps; t++) {
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) {
        float p[9], rho = 0, u = 0, v = 0;
        for (int q = 0; q < 9; q++) {
          int xs = (x - cx[q] + n) % n, ys = (y - cy[q] + n) % n;
          p[q] = f[q * n * n + ys * n + xs];
          rho += p[q];
          u += cx[q] * p[q];
          v += cy[q] * p[q];
        }
        u /= rho;
        v /= rho;
        float uu = 1.5f * (u * u + v * v);
        for (int q = 0; q < 9; q++) {
          float cu = 3 * (cx[q] * u + cy[q] * v);
          g[q * n * n + y * n + x] = p[q] + omega * (weight9[q] * rho * (1 + cu + 0.5f * cu * cu - uu) - p[q]);
        }
      }
    float *swap = f;
    f = g;
    g = swap;
  }
}

/* The same inside of a box, nine arrays in one, two times. */
KERNEL void d2q9_box(int steps, int n, float omega, float f[2][9][n][n]) {
  for (int t = 0; t < steps; t++)
    for (int y = 1; y < n - 1; y++)
      for (int x = 1; x < n - 1; x++) {
        float p[9], rho = 0, u = 0, v = 0;
        for (int q = 0; q < 9; q++) {
          p[q] = f[t % 2][q][y - cy[q]][x - cx[q]];
          rho += p[q];
          u += cx[q] * p[q];
          v += cy[q] * p[q];
        }
        u /= rho;
        v /= rho;
        for (int q = 0; q < 9; q++) {
          float cu = cx[q] * u + cy[q] * v;
          f[(t + 1) % 2][q][y][x] = p[q] - omega * (p[q] - weight9[q] * rho * (1 + 3 * cu + 4.5f * cu * cu - 1.5f * (u * u + v * v)));
        }
      }
}

/* Nineteen populations on a torus. */
static const int e19[19][3] = {{0, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}, {1, 1, 0}, {-1, -1, 0}, {1, -1, 0},
                               {-1, 1, 0}, {1, 0, 1}, {-1, 0, -1}, {1, 0, -1}, {-1, 0, 1}, {0, 1, 1}, {0, -1, -1}, {0, 1, -1}, {0, -1, 1}};

KERNEL void d3q19(int steps, int n, float omega, float (*f)[n][n][n], float (*g)[n][n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int z = 0; z < n; z++)
      for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
          float p[19], rho = 0, u = 0, v = 0, w = 0;
          for (int q = 0; q < 19; q++) {
            p[q] = f[q][(z - e19[q][2] + n) % n][(y - e19[q][1] + n) % n][(x - e19[q][0] + n) % n];
            rho += p[q];
            u += e19[q][0] * p[q];
            v += e19[q][1] * p[q];
            w += e19[q][2] * p[q];
          }
          u /= rho, v /= rho, w /= rho;
          float uu = 1.5f * (u * u + v * v + w * w);
          for (int q = 0; q < 19; q++) {
            float cu = 3 * (e19[q][0] * u + e19[q][1] * v + e19[q][2] * w), weight = q == 0 ? 1 / 3.f : q < 7 ? 1 / 18.f : 1 / 36.f;
            g[q][z][y][x] = p[q] + omega * (weight * rho * (1 + cu + cu * cu / 2 - uu) - p[q]);
          }
        }
    float(*swap)[n][n][n] = f;
    f = g;
    g = swap;
  }
}

/* Jacobi's method until two states are close: a norm in every step. */
KERNEL int jacobi_norm(int steps, int n, float eps, float x[n][n], float y[n][n], const float b[n][n]) {
  for (int t = 0; t < steps; t++) {
    float change = 0;
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        y[i][j] = 0.25f * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1] + b[i][j]);
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

/* A norm every tenth step. */
KERNEL int jacobi_norm10(int steps, int n, float eps, float *x, float *y) {
  for (int t = 1; t <= steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        y[i * n + j] = 0.2f * (x[i * n + j] + x[(i - 1) * n + j] + x[(i + 1) * n + j] + x[i * n + j - 1] + x[i * n + j + 1]);
    if (t % 10 == 0) {
      float change = 0;
      for (int i = 0; i < n * n; i++) {
        float d = fabsf(y[i] - x[i]);
        if (d > change)
          change = d;
      }
      if (change < eps)
        return t;
    }
    float *swap = x;
    x = y;
    y = swap;
  }
  return steps;
}

/* A norm behind all steps. */
KERNEL void jacobi_last(int steps, int n, double a[2][n][n], double *norm) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[(t + 1) % 2][i][j] = 0.25 * (a[t % 2][i - 1][j] + a[t % 2][i + 1][j] + a[t % 2][i][j - 1] + a[t % 2][i][j + 1]);
  double m = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double d = fabs(a[1][i][j] - a[0][i][j]);
      m = d > m ? d : m;
    }
  *norm = m;
}

/* A step as a function of two arrays, called for both directions. */
static void step(int n, const double *from, double *to, const double *k) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      int p = i * n + j;
      to[p] = from[p] + 0.5 * (k[p] + k[p + 1]) * (from[p + 1] - from[p]) - 0.5 * (k[p] + k[p - 1]) * (from[p] - from[p - 1]) +
              0.5 * (k[p] + k[p + n]) * (from[p + n] - from[p]) - 0.5 * (k[p] + k[p - n]) * (from[p] - from[p - n]);
    }
}

KERNEL void diffusion_calls(int steps, int n, double *a, double *b, const double *k) {
  for (int t = 0; t < steps; t += 2) {
    step(n, a, b, k);
    step(n, b, a, k);
  }
}

/* A multigrid method's smoother: damped Jacobi with a right-hand side. */
KERNEL void smooth3d(int steps, int n, double *u, double *v, const double *f) {
  long nn = (long)n * n;
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++) {
          long p = i * nn + j * n + k;
          v[p] = u[p] + 2.0 / 3 * ((f[p] + u[p - 1] + u[p + 1] + u[p - n] + u[p + n] + u[p - nn] + u[p + nn]) / 6 - u[p]);
        }
    double *swap = u;
    u = v;
    v = swap;
  }
}

/* Red and black points in turn. */
KERNEL void red_black(int steps, int n, double x[n][n], double b[n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1 + i % 2; j < n - 1; j += 2)
        x[i][j] = 0.25 * (b[i][j] + x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 2 - i % 2; j < n - 1; j += 2)
        x[i][j] = 0.25 * (b[i][j] + x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]);
  }
}

/* The same with a condition, in three dimensions. */
KERNEL void red_black3d(int steps, int n, float x[n][n][n], float b[n][n][n]) {
  for (int t = 0; t < 2 * steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          if ((i + j + k + t) % 2 == 0)
            x[i][j][k] = (b[i][j][k] + x[i - 1][j][k] + x[i + 1][j][k] + x[i][j - 1][k] + x[i][j + 1][k] + x[i][j][k - 1] + x[i][j][k + 1]) / 6;
}

int main(int argc, char **argv) {
  begin(argc, argv);
  int steps = SIZE(100, 13), few = SIZE(40, 7), line = SIZE(1 << 24, 5000), n = SIZE(4096, 90), m = SIZE(320, 30), q = SIZE(160, 20), h = SIZE(2048, 60);
  size_t nn = (size_t)n * n, mmm = (size_t)m * m * m, qqq = (size_t)q * q * q, hh = (size_t)h * h;
  RUN(upwind2d, nn, steps, 16, float *a = floats(nn, 0, 1); float *b = floats(nn, 0, 1); float *u = floats(nn, -1, 1); float *v = floats(nn, -1, 1),
      (steps, n, 0.2f, a, b, u, v))
  RUN(upwind1d, line, steps, 24, double *a = doubles(line, 0, 1); double *b = doubles(line, 0, 1); double *u = doubles(line, -0.5, 0.5), (steps, line, a, b, u))
  RUN(limited1d, line, steps, 16, double *a = doubles(line, 0, 1); double *b = doubles(line, 0, 1), (steps, line, 0.5, a, b))
  RUN(burgers2d, hh, steps, 32, double *a[4]; for (int i = 0; i < 4; i++) a[i] = doubles(hh, 0, 1),
      (steps, h, 0.1, 0.1, (void *)a[0], (void *)a[1], (void *)a[2], (void *)a[3]))
  RUN(shallow_water, hh, steps, 24, float *a = floats(2 * hh, 1, 1.2); float *b = floats(2 * hh, -0.1, 0.1); float *c = floats(2 * hh, -0.1, 0.1),
      (steps, h, 0.05f, (void *)a, (void *)b, (void *)c))
  RUN(euler2d, hh, few, 64, struct euler s = {.rho = doubles(hh, 1, 1.1)}; s.mx = doubles(hh, 0, 0.1); s.my = doubles(hh, 0, 0.1); s.e = doubles(hh, 2, 2.1);
      s.nrho = doubles(hh, 1, 1.1); s.nmx = doubles(hh, 0, 0.1); s.nmy = doubles(hh, 0, 0.1); s.ne = doubles(hh, 2, 2.1), (few, h, 0.1, s))
  RUN(cavity, hh, few, 160, float *a[4]; for (int i = 0; i < 4; i++) a[i] = floats(hh, 0, 0.1), (few, h, (void *)a[0], (void *)a[1], (void *)a[2], (void *)a[3]))
  RUN(d2q9, hh, steps, 72, float *f = floats(9 * hh, 0.1, 0.12); float *g = floats(9 * hh, 0.1, 0.12), (steps, h, 1.1f, f, g))
  RUN(d2q9_box, hh, steps, 72, float *f = floats(18 * hh, 0.1, 0.12), (steps, h, 1.1f, (void *)f))
  RUN(d3q19, qqq, few, 152, float *f = floats(19 * qqq, 0.05, 0.06); float *g = floats(19 * qqq, 0.05, 0.06), (few, q, 1.1f, (void *)f, (void *)g))
  RUN(jacobi_norm, nn, steps, 12, float *a = floats(nn, 0, 1); float *b = floats(nn, 0, 1); float *f = floats(nn, -0.1, 0.1),
      (steps, n, 1e-9f, (void *)a, (void *)b, (void *)f))
  RUN(jacobi_norm10, nn, steps, 8, float *a = floats(nn, 0, 1); float *b = floats(nn, 0, 1), (steps, n, 1e-9f, a, b))
  RUN(jacobi_last, nn, steps, 16, double *a = doubles(2 * nn, 0, 1); double *norm = doubles(1, 0, 1), (steps, n, (void *)a, norm))
  RUN(diffusion_calls, nn, steps, 24, double *a = doubles(nn, 0, 1); double *b = doubles(nn, 0, 1); double *k = doubles(nn, 0.05, 0.1), (steps, n, a, b, k))
  RUN(smooth3d, mmm, few, 24, double *a = doubles(mmm, 0, 1); double *b = doubles(mmm, 0, 1); double *f = doubles(mmm, 0, 1), (few, m, a, b, f))
  RUN(red_black, nn, steps, 24, double *a = doubles(nn, 0, 1); double *b = doubles(nn, -0.1, 0.1), (steps, n, (void *)a, (void *)b))
  RUN(red_black3d, mmm, few, 12, float *a = floats(mmm, 0, 1); float *b = floats(mmm, -0.1, 0.1), (few, m, (void *)a, (void *)b))
  return 0;
}
