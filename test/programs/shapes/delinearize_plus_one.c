// Arrays of size N + 1 (Grosser et al., ICS 2015): the magnetic field of an anisotropic perfectly matched layer, whose boundary
// accesses have sizes as subscripts, and LU decomposition with substitution counted from 1.
// ARGS: 7 8 9
// ARGS: 0 0 0
// ARGS: 1 1 1
// ARGS: 3 20 12
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void apml(int cz, int cy, int cx, double mui, double ch, double Bza[cz + 1][cy + 1][cx + 1],
                                           double Ex[cz + 1][cy + 1][cx + 1], double Ey[cz + 1][cy + 1][cx + 1],
                                           double Hz[cz + 1][cy + 1][cx + 1], double Ry[cz + 1][cy + 1], double Ax[cz + 1][cx + 1],
                                           double czm[cz + 1], double cxmh[cx + 1], double cymh[cy + 1]) {
  for (int z = 0; z < cz; z++) {
    for (int y = 0; y < cy; y++) {
      for (int x = 0; x < cx; x++) {
        double clf = Ex[z][y][x] - Ex[z][y + 1][x] + Ey[z][y][x + 1] - Ey[z][y][x];
        double tmp = cymh[y] * Bza[z][y][x] - ch * clf;
        Hz[z][y][x] = cxmh[x] * Hz[z][y][x] + mui * czm[z] * tmp - mui * Bza[z][y][x];
        Bza[z][y][x] = tmp;
      }
      double clf = Ex[z][y][cx] - Ex[z][y + 1][cx] + Ry[z][y] - Ey[z][y][cx];
      double tmp = cymh[y] * Bza[z][y][cx] - ch * clf;
      Hz[z][y][cx] = cxmh[cx] * Hz[z][y][cx] + mui * czm[z] * tmp - mui * Bza[z][y][cx];
      Bza[z][y][cx] = tmp;
    }
    for (int x = 0; x < cx; x++) {
      double clf = Ex[z][cy][x] - Ax[z][x] + Ey[z][cy][x + 1] - Ey[z][cy][x];
      double tmp = cymh[cy] * Bza[z][cy][x] - ch * clf;
      Hz[z][cy][x] = cxmh[x] * Hz[z][cy][x] + mui * czm[z] * tmp - mui * Bza[z][cy][x];
      Bza[z][cy][x] = tmp;
    }
    double clf = Ex[z][cy][cx] - Ax[z][cx] + Ry[z][cy] - Ey[z][cy][cx];
    double tmp = cymh[cy] * Bza[z][cy][cx] - ch * clf;
    Hz[z][cy][cx] = cxmh[cx] * Hz[z][cy][cx] + mui * czm[z] * tmp - mui * Bza[z][cy][cx];
    Bza[z][cy][cx] = tmp;
  }
}

__attribute__((noinline)) static void ludcmp(int n, double A[n + 1][n + 1], double b[n + 1], double x[n + 1], double y[n + 1]) {
  b[0] = 1.0;
  for (int i = 0; i < n; i++) {
    for (int j = i + 1; j <= n; j++) {
      double w = A[j][i];
      for (int k = 0; k < i; k++)
        w = w - A[j][k] * A[k][i];
      A[j][i] = w / A[i][i];
    }
    for (int j = i + 1; j <= n; j++) {
      double w = A[i + 1][j];
      for (int k = 0; k <= i; k++)
        w = w - A[i + 1][k] * A[k][j];
      A[i + 1][j] = w;
    }
  }
  y[0] = b[0];
  for (int i = 1; i <= n; i++) {
    double w = b[i];
    for (int j = 0; j < i; j++)
      w = w - A[i][j] * y[j];
    y[i] = w;
  }
  x[n] = y[n] / A[n][n];
  for (int i = 0; i <= n - 1; i++) {
    double w = y[n - 1 - i];
    for (int j = n - i; j <= n; j++)
      w = w - A[n - 1 - i][j] * x[j];
    x[n - 1 - i] = w / A[n - 1 - i][n - 1 - i];
  }
}

static double *filled(size_t count) {
  double *p = example_array(count);
  example_fill(p, count);
  return p;
}

int main(int argc, char **argv) {
  int cz = (int)example_arg(argc, argv, 1, 7), cy = (int)example_arg(argc, argv, 2, 8), cx = (int)example_arg(argc, argv, 3, 9);
  size_t count = (size_t)(cz + 1) * (cy + 1) * (cx + 1);
  double *Bza = filled(count), *Ex = filled(count), *Ey = filled(count), *Hz = filled(count);
  double *Ry = filled((size_t)(cz + 1) * (cy + 1)), *Ax = filled((size_t)(cz + 1) * (cx + 1));
  double *czm = filled(cz + 1), *cxmh = filled(cx + 1), *cymh = filled(cy + 1);
  apml(cz, cy, cx, 0.75, 0.5, (double(*)[cy + 1][cx + 1])Bza, (double(*)[cy + 1][cx + 1])Ex, (double(*)[cy + 1][cx + 1])Ey,
       (double(*)[cy + 1][cx + 1])Hz, (double(*)[cy + 1])Ry, (double(*)[cx + 1])Ax, czm, cxmh, cymh);
  example_print("Hz", Hz, count);
  example_print("Bza", Bza, count);
  int n = cy;
  double *A = filled((size_t)(n + 1) * (n + 1)), *b = filled(n + 1), *x = filled(n + 1), *y = filled(n + 1);
  for (int i = 0; i <= n; i++)
    A[(size_t)i * (n + 1) + i] += 2 * n + 2;
  ludcmp(n, (double(*)[n + 1])A, b, x, y);
  example_print("A", A, (size_t)(n + 1) * (n + 1));
  example_print("x", x, n + 1);
  return 0;
}
