/* Fields on grids and meshes in C: flows, waves, electromagnetics, finite elements, climate. */
#include "data.h"

#define IX(i, j) ((i) + (nx + 2) * (j))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

typedef struct {
  int nx, ny, ghost;
  double dx, dy, gamma;
  double *rho, *mx, *my, *en, *pressure, *sound;
} Gas;

/* Pressure and speed of sound of an ideal gas, ghost cells included. */
LOOP void equation_of_state(Gas *g) {
  int stride = g->nx + 2 * g->ghost;
  for (int j = -g->ghost; j < g->ny + g->ghost; j++)
    for (int i = -g->ghost; i < g->nx + g->ghost; i++) {
      int c = (j + g->ghost) * stride + i + g->ghost;
      double u = g->mx[c] / g->rho[c], v = g->my[c] / g->rho[c];
      double e = g->en[c] - 0.5 * g->rho[c] * (u * u + v * v);
      g->pressure[c] = (g->gamma - 1) * (e > 1e-10 ? e : 1e-10);
      g->sound[c] = sqrt(g->gamma * g->pressure[c] / g->rho[c]);
    }
}

/* Walls that reflect: ghost cells are mirrored. */
LOOP void reflect(double *field, int nx, int ny, int depth, double sign) {
  int stride = nx + 2 * depth;
  for (int k = 0; k < depth; k++) {
    for (int j = 0; j < ny + 2 * depth; j++) {
      field[j * stride + depth - 1 - k] = sign * field[j * stride + depth + k];
      field[j * stride + nx + depth + k] = sign * field[j * stride + nx + depth - 1 - k];
    }
  }
  for (int k = 0; k < depth; k++) {
    for (int i = 0; i < stride; i++) {
      field[(depth - 1 - k) * stride + i] = field[(depth + k) * stride + i];
      field[(ny + depth + k) * stride + i] = field[(ny + depth - 1 - k) * stride + i];
    }
  }
}

/* The largest stable step. */
LOOP double stable_step(const Gas *g, int *where) {
  int stride = g->nx + 2 * g->ghost;
  double least = 1e30;
  for (int j = 0; j < g->ny; j++)
    for (int i = 0; i < g->nx; i++) {
      int c = (j + g->ghost) * stride + i + g->ghost;
      double speed = fabs(g->mx[c] / g->rho[c]) / g->dx + fabs(g->my[c] / g->rho[c]) / g->dy + g->sound[c] / g->dx;
      double dt = 1.0 / speed;
      if (dt < least) {
        least = dt;
        *where = c;
      }
    }
  return least;
}

/* Fluxes by HLL between neighbours in a row, and the update. */
LOOP void hll_sweep(int nx, int ny, double dt, double (*q)[ny + 4][nx + 4], double (*flux)[ny + 4][nx + 5]) {
  for (int j = 2; j < ny + 2; j++) {
    for (int i = 2; i <= nx + 2; i++) {
      double rl = q[0][j][i - 1], rr = q[0][j][i];
      double ul = q[1][j][i - 1] / rl, ur = q[1][j][i] / rr;
      double pl = 0.4 * (q[2][j][i - 1] - 0.5 * rl * ul * ul), pr = 0.4 * (q[2][j][i] - 0.5 * rr * ur * ur);
      double cl = sqrt(1.4 * fabs(pl) / rl), cr = sqrt(1.4 * fabs(pr) / rr);
      double sl = fmin(ul - cl, ur - cr), sr = fmax(ul + cl, ur + cr);
      double fl[3] = {rl * ul, rl * ul * ul + pl, ul * (q[2][j][i - 1] + pl)};
      double fr[3] = {rr * ur, rr * ur * ur + pr, ur * (q[2][j][i] + pr)};
      for (int k = 0; k < 3; k++) {
        if (sl >= 0)
          flux[k][j][i] = fl[k];
        else if (sr <= 0)
          flux[k][j][i] = fr[k];
        else
          flux[k][j][i] = (sr * fl[k] - sl * fr[k] + sl * sr * (q[k][j][i] - q[k][j][i - 1])) / (sr - sl);
      }
    }
  }
  for (int k = 0; k < 3; k++)
    for (int j = 2; j < ny + 2; j++)
      for (int i = 2; i < nx + 2; i++)
        q[k][j][i] -= dt * (flux[k][j][i + 1] - flux[k][j][i]);
}

/* Shallow water on a periodic grid, leapfrog, with the arrays' turns by pointers. */
LOOP void shallow_water(int n, int m, int steps, double *h_old, double *h, double *h_new, double *u, double *v) {
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < m; j++) {
        int up = (i + 1) % n, down = (i - 1 + n) % n, left = (j - 1 + m) % m, right = (j + 1) % m;
        h_new[i * m + j] = h_old[i * m + j] - 0.01 * (u[up * m + j] - u[down * m + j] + v[i * m + right] - v[i * m + left]) * h[i * m + j];
      }
    }
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < m; j++) {
        int up = (i + 1) % n, down = (i - 1 + n) % n, left = (j - 1 + m) % m, right = (j + 1) % m;
        u[i * m + j] -= 0.01 * (h_new[up * m + j] - h_new[down * m + j]);
        v[i * m + j] -= 0.01 * (h_new[i * m + right] - h_new[i * m + left]);
      }
    }
    double *temp = h_old;
    h_old = h;
    h = h_new;
    h_new = temp;
  }
}

/* Heat in a plate: two arrays that swap. */
LOOP double *diffuse(int nx, int ny, int steps, double *a, double *b) {
  for (int t = 0; t < steps; t++) {
    for (int j = 1; j <= ny; j++)
      for (int i = 1; i <= nx; i++)
        b[IX(i, j)] = a[IX(i, j)] + 0.1 * (a[IX(i - 1, j)] + a[IX(i + 1, j)] + a[IX(i, j - 1)] + a[IX(i, j + 1)] - 4 * a[IX(i, j)]);
    double *swap = a;
    a = b;
    b = swap;
  }
  return a;
}

/* A fluid's relaxation of the stable-fluids kind, with its boundaries, on a structure's grids. */
typedef struct {
  int nx, ny;
  float *x, *x0;
} Fluid;

LOOP void lin_solve(Fluid *f, float a, float c) {
  int nx = f->nx, ny = f->ny;
  for (int k = 0; k < 6; k++) {
    for (int j = 1; j <= ny; j++)
      for (int i = 1; i <= nx; i++)
        f->x[IX(i, j)] = (f->x0[IX(i, j)] + a * (f->x[IX(i - 1, j)] + f->x[IX(i + 1, j)] + f->x[IX(i, j - 1)] + f->x[IX(i, j + 1)])) / c;
    for (int j = 1; j <= ny; j++) {
      f->x[IX(0, j)] = -f->x[IX(1, j)];
      f->x[IX(nx + 1, j)] = -f->x[IX(nx, j)];
    }
  }
}

/* Lattice Boltzmann: collisions, and streaming into the neighbours. */
static const int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const double wi[9] = {4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36};

LOOP void lattice_boltzmann(int nx, int ny, int steps, double omega, double *f, double *g, const char *solid) {
  for (int t = 0; t < steps; t++) {
    for (int y = 1; y < ny - 1; y++) {
      for (int x = 1; x < nx - 1; x++) {
        double rho = 0, ux = 0, uy = 0;
        for (int k = 0; k < 9; k++) {
          double v = f[(y * nx + x) * 9 + k];
          rho += v;
          ux += ex[k] * v;
          uy += ey[k] * v;
        }
        ux /= rho;
        uy /= rho;
        double square = 1.5 * (ux * ux + uy * uy);
        for (int k = 0; k < 9; k++) {
          double cu = 3 * (ex[k] * ux + ey[k] * uy);
          double feq = rho * wi[k] * (1 + cu + 0.5 * cu * cu - square);
          double v = f[(y * nx + x) * 9 + k];
          g[((y + ey[k]) * nx + x + ex[k]) * 9 + k] = solid[y * nx + x] ? v : v + omega * (feq - v);
        }
      }
    }
    double *swap = f;
    f = g;
    g = swap;
  }
}

/* Yee's scheme in three dimensions, with a helper for the place of an element. */
static size_t at(int i, int j, int k, int ny, int nz) { return ((size_t)i * ny + j) * nz + k; }

LOOP void yee(int nx, int ny, int nz, float *restrict ez, const float *restrict hx, const float *restrict hy, const float *restrict c) {
  for (int i = 1; i < nx; i++)
    for (int j = 1; j < ny; j++)
      for (int k = 0; k < nz; k++)
        ez[at(i, j, k, ny, nz)] += c[at(i, j, k, ny, nz)] * (hy[at(i, j, k, ny, nz)] - hy[at(i - 1, j, k, ny, nz)] - hx[at(i, j, k, ny, nz)] +
                                                               hx[at(i, j - 1, k, ny, nz)]);
}

/* A sweep in tiles whose size is an argument. */
LOOP void tiled_transpose_add(int n, int tile, double *b, const double *a) {
  for (int it = 0; it < n; it += tile)
    for (int jt = 0; jt < n; jt += tile)
      for (int i = it; i < MIN(n, it + tile); i++)
        for (int j = jt; j < MIN(n, jt + tile); j++)
          b[i * n + j] += a[j * n + i];
}

/* Red and black points of a Poisson problem in turns. */
LOOP void red_black(int n, int sweeps, double *u, const double *f, double h2) {
  for (int s = 0; s < sweeps; s++)
    for (int colour = 0; colour < 2; colour++)
      for (int i = 1; i < n - 1; i++)
        for (int j = 1 + (i + colour) % 2; j < n - 1; j += 2)
          u[i * n + j] = 0.25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1] - h2 * f[i * n + j]);
}

/* Residual and its restriction to the next coarser grid. */
LOOP void restrict_residual(int n, const double *u, const double *f, double *r, double *coarse) {
  int m = n / 2;
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++)
      r[i * (n + 1) + j] = f[i * (n + 1) + j] - (4 * u[i * (n + 1) + j] - u[(i - 1) * (n + 1) + j] - u[(i + 1) * (n + 1) + j] -
                                                   u[i * (n + 1) + j - 1] - u[i * (n + 1) + j + 1]) * n * n;
  for (int i = 1; i < m; i++)
    for (int j = 1; j < m; j++)
      coarse[i * (m + 1) + j] = 0.25 * r[2 * i * (n + 1) + 2 * j] +
                                0.125 * (r[(2 * i - 1) * (n + 1) + 2 * j] + r[(2 * i + 1) * (n + 1) + 2 * j] + r[2 * i * (n + 1) + 2 * j - 1] +
                                         r[2 * i * (n + 1) + 2 * j + 1]);
}

/* Implicit diffusion in every column, by the Thomas algorithm. */
LOOP void columns_implicit(int columns, int levels, double *t, const double *k, double dt) {
  for (int c = 0; c < columns; c++) {
    double cp[levels], dp[levels];
    double *x = t + c * levels;
    cp[0] = -dt * k[0] / (1 + dt * k[0]);
    dp[0] = x[0] / (1 + dt * k[0]);
    for (int i = 1; i < levels; i++) {
      double a = -dt * k[i - 1], b = 1 + dt * (k[i - 1] + k[i]), m = b - a * cp[i - 1];
      cp[i] = -dt * k[i] / m;
      dp[i] = (x[i] - a * dp[i - 1]) / m;
    }
    x[levels - 1] = dp[levels - 1];
    for (int i = levels - 2; i >= 0; i--)
      x[i] = dp[i] - cp[i] * x[i + 1];
  }
}

/* Cloud base of every column: the first level that is saturated. */
LOOP void cloud_base(int columns, int levels, const double *q, const double *qsat, int *base) {
  for (int c = 0; c < columns; c++) {
    base[c] = -1;
    for (int k = levels - 1; k >= 0; k--) {
      if (q[k * columns + c] >= qsat[k * columns + c]) {
        base[c] = k;
        break;
      }
    }
  }
}

/* Element matrices of linear tetrahedra times a vector, added to the nodes. */
LOOP void assemble(int elements, const int *nodes, const double *xyz, const double *u, double *r) {
  for (int e = 0; e < elements; e++) {
    const int *n = nodes + 4 * e;
    double b[4][3], j[3][3];
    for (int k = 0; k < 3; k++)
      for (int d = 0; d < 3; d++)
        j[k][d] = xyz[3 * n[k + 1] + d] - xyz[3 * n[0] + d];
    double det = j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1]) - j[0][1] * (j[1][0] * j[2][2] - j[1][2] * j[2][0]) +
                 j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0]);
    for (int k = 0; k < 3; k++)
      for (int d = 0; d < 3; d++) {
        int k1 = (k + 1) % 3, k2 = (k + 2) % 3, d1 = (d + 1) % 3, d2 = (d + 2) % 3;
        b[k + 1][d] = (j[k1][d1] * j[k2][d2] - j[k1][d2] * j[k2][d1]) / det;
      }
    for (int d = 0; d < 3; d++)
      b[0][d] = -b[1][d] - b[2][d] - b[3][d];
    for (int p = 0; p < 4; p++) {
      double s = 0;
      for (int q = 0; q < 4; q++)
        s += (b[p][0] * b[q][0] + b[p][1] * b[q][1] + b[p][2] * b[q][2]) * u[n[q]];
      r[n[p]] += s * fabs(det) / 6;
    }
  }
}

/* Strains of hexahedra from the displacements of their nodes. */
LOOP void element_strain(int elements, const int (*hex)[8], const double (*disp)[3], const double dN[8][3], double (*strain)[6]) {
  for (int e = 0; e < elements; e++) {
    double g[3][3] = {{0}};
    for (int a = 0; a < 8; a++)
      for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
          g[i][k] += disp[hex[e][a]][i] * dN[a][k];
    strain[e][0] = g[0][0];
    strain[e][1] = g[1][1];
    strain[e][2] = g[2][2];
    strain[e][3] = g[0][1] + g[1][0];
    strain[e][4] = g[1][2] + g[2][1];
    strain[e][5] = g[0][2] + g[2][0];
  }
}

/* A sparse matrix in rows times a vector. */
LOOP void sparse_matvec(int rows, const int *start, const int *column, const double *value, const double *x, double *y) {
  for (int i = 0; i < rows; i++) {
    double s = 0;
    for (int k = start[i]; k < start[i + 1]; k++)
      s += value[k] * x[column[k]];
    y[i] = s;
  }
}

static void *corners(size_t n, int below) { return integers(n, below); }

int main(void) {
  int nx = 37, ny = 29, gh = 2, cells = (nx + 4) * (ny + 4);
  Gas g = {nx, ny, gh, 0.1, 0.2, 1.4, doubles(cells), doubles(cells), doubles(cells), doubles(cells), doubles(cells), doubles(cells)};
  equation_of_state(&g);
  SHOW(equation_of_state, g.sound, cells);
  reflect(g.mx, nx, ny, gh, -1);
  SHOW(reflect, g.mx, cells);
  struct {
    double dt;
    long where;
  } step = {0, 0};
  int where = 0;
  step.dt = stable_step(&g, &where);
  step.where = where;
  SHOW(stable_step, &step, 1);
  double *q = doubles(3 * cells), *flux = doubles(3 * (ny + 4) * (nx + 5));
  hll_sweep(nx, ny, 0.01, (void *)q, (void *)flux);
  SHOW(hll_sweep, q, 3 * cells);
  double *h0 = doubles(cells), *h1 = doubles(cells), *h2 = doubles(cells), *u = doubles(cells), *v = doubles(cells);
  shallow_water(ny, nx, 4, h0, h1, h2, u, v);
  SHOW(shallow_water, u, cells);
  double *done = diffuse(nx, ny, 5, h0, h1);
  SHOW(diffuse, done, cells - 100);
  Fluid fluid = {nx, ny, floats(cells), floats(cells)};
  lin_solve(&fluid, 0.2f, 1.8f);
  SHOW(lin_solve, fluid.x, cells);
  double *f = doubles(cells * 9), *f2 = doubles(cells * 9);
  char *solid = (char *)bytes(cells);
  for (int i = 0; i < cells; i++)
    solid[i] = (solid[i] & 15) == 0;
  lattice_boltzmann(nx, ny, 3, 0.8, f, f2, solid);
  SHOW(lattice_boltzmann, f2, cells * 9);
  int s = 17, m = 15, l = 13;
  float *ez = floats(s * m * l), *hx = floats(s * m * l), *hy = floats(s * m * l), *ce = floats(s * m * l);
  yee(s, m, l, ez, hx, hy, ce);
  SHOW(yee, ez, s * m * l);
  int n = 50;
  double *a = doubles(n * n), *b = doubles(n * n);
  tiled_transpose_add(n, 16, b, a);
  SHOW(tiled_transpose_add, b, n * n);
  red_black(n, 3, a, b, 0.01);
  SHOW(red_black, a, n * n);
  double *r = doubles(n * n), *coarse = doubles(n * n);
  restrict_residual(48, a, b, r, coarse);
  SHOW(restrict_residual, coarse, 25 * 25);
  columns_implicit(80, 30, a, b, 0.1);
  SHOW(columns_implicit, a, 2400);
  int *base = integers(80, 9);
  cloud_base(80, 30, a, b, base);
  SHOW(cloud_base, base, 80);
  int nodes = 200, elements = 300;
  double *xyz = doubles(3 * nodes), *disp = doubles(3 * nodes), *res = doubles(nodes), *dn = doubles(24), *strain = doubles(6 * elements);
  int *tets = integers(4 * elements, nodes);
  assemble(elements, tets, xyz, disp, res);
  SHOW(assemble, res, nodes);
  element_strain(elements, corners(8 * elements, nodes), (void *)disp, (void *)dn, (void *)strain);
  SHOW(element_strain, strain, 6 * elements);
  int *start = integers(nodes + 1, 9);
  start[0] = 0;
  for (int i = 0; i < nodes; i++)
    start[i + 1] = start[i] + i % 7;
  sparse_matvec(nodes, start, integers(start[nodes], nodes), doubles(start[nodes]), xyz, res);
  SHOW(sparse_matvec, res, nodes);
  return 0;
}
