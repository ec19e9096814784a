// Lattices and lists of neighbours: subscripts from small constant tables, forwards and backwards, and from tables that the program changes, whose
// loops stay; subscripts that wrap in a narrow type, tables on the stack that iterations change, and loops over tables that are left early.
// ARGS: 3 19 23
// ARGS: 1 3 3
// ARGS: 0 4 4
// ARGS: 4 34 20
// OFFLOAD: yes
// TURNS: 3
// KERNELS: lattice
// KERNELS: neighbours
// KERNELS: backwards
// KERNELS: stream
#include "example.h"

#define Q 9
static const int ex[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ey[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const double weight[Q] = {4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36};
static const signed char offset[3][2] = {{-1, 0}, {0, -1}, {-1, -1}};
static int moved[4] = {1, 0, -1, 0};

__attribute__((noinline)) static void lattice(int steps, int n, int m, double omega, double f[2][Q][n][m]) {
  for (int t = 0; t < steps; t++) {
    int from = t & 1, to = 1 - from;
    for (int x = 1; x < n - 1; x++)
      for (int y = 1; y < m - 1; y++) {
        double rho = 0, ux = 0, uy = 0, local[Q];
        for (int k = 0; k < Q; k++) {
          local[k] = f[from][k][x - ex[k]][y - ey[k]];
          rho += local[k];
          ux += local[k] * ex[k];
          uy += local[k] * ey[k];
        }
        ux /= rho;
        uy /= rho;
        for (int k = 0; k < Q; k++) {
          double c = 3 * (ex[k] * ux + ey[k] * uy);
          double equilibrium = weight[k] * rho * (1 + c + 0.5 * c * c - 1.5 * (ux * ux + uy * uy));
          f[to][k][x][y] = (1 - omega) * local[k] + omega * equilibrium;
        }
      }
  }
}

__attribute__((noinline)) static void neighbours(int n, int m, const double A[n][m], double B[n][m]) {
  for (int i = 1; i < n; i++)
    for (int j = 1; j < m; j++)
      for (int k = 0; k < 3; k++)
        B[i][j] += A[i + offset[k][0]][j + offset[k][1]];
}

// The table's loop is the outermost one: a nest for each entry, whose guards are one test, around the grid.
__attribute__((noinline)) static void stream(int n, int m, const double *restrict g, double *restrict f) {
  for (int k = 0; k < Q; k++)
    for (int x = 0; x < n; x++)
      for (int y = 0; y < m; y++) {
        int u = (x - ex[k] + n) % n, v = (y - ey[k] + m) % m;
        f[(k * n + x) * m + y] = g[(k * n + u) * m + v];
      }
}

__attribute__((noinline)) static void backwards(int n, int m, const double A[n][m], double B[n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      for (int k = Q - 1; k > 0; k -= 2)
        B[i][j] = B[i][j] * 0.5 + A[i + ex[k]][j - ey[k]];
}

__attribute__((noinline)) static void changed(int n, int m, const double A[n][m], double B[n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < 4; k++)
        B[i][j] += A[i + moved[k]][j];
}

static const unsigned char wrapping[6] = {0, 255, 1, 255, 0, 3};
static const int digits[8] = {3, 1, 4, 1, 5, 9, 2, 6};

__attribute__((noinline)) static void narrow(int n, double a[256]) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 6; k++)
      a[(unsigned char)(i + wrapping[k])] += k * i;
}

__attribute__((noinline)) static void own(int n, const double *a, double *b) {
  for (int i = 3; i < n - 4; i++) {
    int at[3] = {-1, 0, 1};
    if (i & 1)
      at[0] = -3;
    double s = 0;
    for (int k = 0; k < 3; k++) {
      s += a[i + at[k]];
      at[k] += k;
    }
    b[i] = s + a[i + at[2]];
  }
}

__attribute__((noinline)) static void until(int n, const double *a, double *b) {
  for (int i = 0; i < n - 10; i++) {
    double s = 0;
    for (int k = 0; k < 8; k++) {
      if (a[i + digits[k]] < -0.5)
        break;
      s = s * 0.5 + a[i + digits[k]];
    }
    b[i] = s;
  }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 3), n = (int)example_arg(argc, argv, 2, 19), m = (int)example_arg(argc, argv, 3, 23);
  size_t count = (size_t)n * m;
  double *f = example_array(2 * Q * count), *A = example_array(count), *B = example_array(count);
  example_fill(f, 2 * Q * count);
  for (size_t i = 0; i < 2 * Q * count; i++)
    f[i] += 2;
  example_fill(A, count);
  example_fill(B, count);
  lattice(steps, n, m, 0.7, (void *)f);
  stream(n, m, f, f + Q * count);
  neighbours(n, m, (void *)A, (void *)B);
  backwards(n, m, (void *)A, (void *)B);
  changed(n, m, (void *)A, (void *)B);
  moved[argc > 9] = -1;
  changed(n, m, (void *)A, (void *)B);
  double *u = example_array(256 + count), *v = example_array(256 + count);
  example_fill(u, 256 + count);
  example_fill(v, 256 + count);
  narrow(n * m, u);
  own((int)count + 200, u, v);
  own((int)count + 200, v, v);
  until((int)count + 200, v, u);
  example_print("u", u, 256 + count);
  example_print("v", v, 256 + count);
  example_print("f", f, 2 * Q * count);
  example_print("B", B, count);
  return 0;
}
