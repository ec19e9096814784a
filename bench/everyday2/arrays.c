/* Arrays: what memory bounds, sparse products, sums, sweeps of grids. */
#include "everyday2.h"

KERNEL copy(long n, float *a, const float *b) {
  for (long i = 0; i < n; i++)
    a[i] = b[i];
}

KERNEL triad(long n, double s, double *a, const double *b, const double *c) {
  for (long i = 0; i < n; i++)
    a[i] = b[i] + s * c[i];
}

KERNEL dot(long n, const float *a, const float *b, float *y) {
  float sum = 0;
  for (long i = 0; i < n; i++)
    sum += a[i] * b[i];
  *y = sum;
}

KERNEL norm(long n, const double *a, double *y) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    sum += a[i] * a[i];
  *y = sqrt(sum);
}

KERNEL transpose(int n, int m, const float a[n][m], float b[m][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      b[j][i] = a[i][j];
}

KERNEL permute(int a, int b, int c, int d, const float x[a][b][c][d], float y[a][c][b][d]) {
  for (int i = 0; i < a; i++)
    for (int j = 0; j < b; j++)
      for (int k = 0; k < c; k++)
        for (int l = 0; l < d; l++)
          y[i][k][j][l] = x[i][j][k][l];
}

KERNEL channels_last(int b, int c, int n, const float x[b][c][n], float y[b][n][c]) {
  for (int i = 0; i < b; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < c; k++)
        y[i][j][k] = x[i][k][j];
}

KERNEL reverse(long n, const float *a, float *b) {
  for (long i = 0; i < n; i++)
    b[i] = a[n - 1 - i];
}

KERNEL deinterleave(long n, const float *x, float *re, float *im) {
  for (long i = 0; i < n; i++) {
    re[i] = x[2 * i];
    im[i] = x[2 * i + 1];
  }
}

KERNEL gather(long n, const int *index, const float *x, float *y) {
  for (long i = 0; i < n; i++)
    y[i] = x[index[i]];
}

KERNEL brighten(long n, const unsigned char *x, unsigned char *y) {
  for (long i = 0; i < n; i++) {
    int v = x[i] + 40;
    y[i] = v > 255 ? 255 : v;
  }
}

KERNEL quantise(long n, const float *x, signed char *y) {
  for (long i = 0; i < n; i++) {
    float v = x[i] * 50;
    v = v > 127 ? 127 : v < -127 ? -127 : v;
    y[i] = (signed char)v;
  }
}

KERNEL adam(long n, float rate, const float *g, float *p, float *m, float *v) {
  for (long i = 0; i < n; i++) {
    m[i] = 0.9f * m[i] + 0.1f * g[i];
    v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
    p[i] -= rate * m[i] / (sqrtf(v[i]) + 1e-8f);
  }
}

KERNEL spmv_csr(int n, const int *start, const int *column, const float *value, const float *x, float *y) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int k = start[i]; k < start[i + 1]; k++)
      sum += value[k] * x[column[k]];
    y[i] = sum;
  }
}

KERNEL spmv_ell(int n, int width, const int column[width][n], const float value[width][n], const float *x, float *y) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int k = 0; k < width; k++)
      sum += value[k][i] * x[column[k][i]];
    y[i] = sum;
  }
}

KERNEL radius7(long n, const int *a, int *b) {
  for (long i = 7; i < n - 7; i++) {
    int sum = 0;
    for (int k = -7; k <= 7; k++)
      sum += a[i + k];
    b[i] = sum;
  }
}

KERNEL sweep2d(int n, int m, const float a[n][m], float b[n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      b[i][j] = 0.5f * a[i][j] + 0.125f * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
}

KERNEL sweep3d(int n, const double a[n][n][n], double b[n][n][n]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      for (int k = 1; k < n - 1; k++)
        b[i][j][k] = 0.4 * a[i][j][k] + 0.1 * (a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k] + a[i][j][k - 1] + a[i][j][k + 1]);
}

KERNEL box27(int n, const float a[n][n][n], float b[n][n][n]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      for (int k = 1; k < n - 1; k++) {
        float sum = 0;
        for (int p = -1; p <= 1; p++)
          for (int q = -1; q <= 1; q++)
            for (int r = -1; r <= 1; r++)
              sum += a[i + p][j + q][k + r];
        b[i][j][k] = sum / 27;
      }
}

KERNEL jacobi(int steps, int n, float a[n][n], float b[n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = 0.25f * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = b[i][j];
  }
}

KERNEL fdtd(int n, int m, float ex[n][m], float ey[n][m], float hz[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++)
      ex[i][j] -= 0.5f * (hz[i][j] - hz[i][j - 1]);
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++)
      ey[i][j] += 0.5f * (hz[i][j] - hz[i - 1][j]);
  for (int i = 0; i < n - 1; i++)
    for (int j = 0; j < m - 1; j++)
      hz[i][j] -= 0.7f * (ex[i][j + 1] - ex[i][j] - ey[i + 1][j] + ey[i][j]);
}

KERNEL gradient(int n, int m, const float a[n][m], float gx[n][m], float gy[n][m], float magnitude[n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      gx[i][j] = 0.5f * (a[i][j + 1] - a[i][j - 1]);
      gy[i][j] = 0.5f * (a[i + 1][j] - a[i - 1][j]);
    }
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      magnitude[i][j] = sqrtf(gx[i][j] * gx[i][j] + gy[i][j] * gy[i][j]);
}

HOST int main(int argc, char **argv) {
  begin(argc, argv);
  long N = SIZE(1l << 26, 10007);
  float *x, *y, *z, *u;
#define FLOATS(name, call, count)                                                                                                          \
  CASE(name) {                                                                                                                             \
    x = floats(N, 0, 1), z = floats(N, 0, 1), y = floats(N, 0, 1);                                                                         \
    RUN(name, y, count, call);                                                                                                             \
  }
  FLOATS(copy, (N, y, x), N)
  FLOATS(dot, (N, x, z, y), 1)
  FLOATS(reverse, (N, x, y), N)
  FLOATS(deinterleave, (N / 2, x, y, y + N / 2), N)
  CASE(triad) {
    double *a = doubles(N, 0, 1), *b = doubles(N, 0, 1), *c = doubles(N, 0, 1);
    RUN(triad, a, N, (N, 0.5, a, b, c));
  }
  CASE(norm) {
    double *a = doubles(N, 0, 1), *b = doubles(1, 0, 1);
    RUN(norm, b, 1, (N, a, b));
  }
  int n = SIZE(8192, 67), m = SIZE(8192, 75);
  long nm = (long)n * m;
#define GRID(name, call)                                                                                                                   \
  CASE(name) {                                                                                                                             \
    x = floats(nm, 0, 1), z = floats(nm, 0, 1), u = floats(nm, 0, 1), y = floats(nm, 0, 1);                                                \
    RUN(name, y, nm, call);                                                                                                                \
  }
  GRID(transpose, (n, m, (void *)x, (void *)y))
  GRID(sweep2d, (n, m, (void *)x, (void *)y))
  GRID(gradient, (n, m, (void *)x, (void *)z, (void *)u, (void *)y))
  CASE(fdtd) {
    float *all = floats(3 * nm, 0, 1);
    RUN(fdtd, all, 3 * nm, (n, m, (void *)all, (void *)(all + nm), (void *)(all + 2 * nm)));
  }
  CASE(permute) {
    int a = SIZE(16, 3), b = SIZE(2048, 13), c = SIZE(16, 5), d = SIZE(128, 17);
    x = floats((long)a * b * c * d, 0, 1), y = floats((long)a * b * c * d, 0, 1);
    RUN(permute, y, (long)a * b * c * d, (a, b, c, d, (void *)x, (void *)y));
  }
  CASE(channels_last) {
    int b = SIZE(64, 3), c = SIZE(64, 5), n = SIZE(128 * 128, 121);
    x = floats((long)b * c * n, 0, 1), y = floats((long)b * c * n, 0, 1);
    RUN(channels_last, y, (long)b * c * n, (b, c, n, (void *)x, (void *)y));
  }
  CASE(gather) {
    int *index = ints(N, (int)(N / 64));
    x = floats(N / 64, 0, 1), y = floats(N, 0, 1);
    RUN(gather, y, N, (N, index, x, y));
  }
  CASE(brighten) {
    unsigned char *a = bytes(4 * N, 256), *b = bytes(4 * N, 256);
    RUN(brighten, b, 4 * N, (4 * N, a, b));
  }
  CASE(quantise) {
    x = floats(N, -4, 4);
    unsigned char *b = bytes(N, 256);
    RUN(quantise, b, N, (N, x, (signed char *)b));
  }
  CASE(adam) {
    long each = N / 2;
    float *all = floats(3 * each, 0, 1);
    x = floats(each, -1, 1);
    RUN(adam, all, 3 * each, (each, 0.01f, x, all, all + each, all + 2 * each));
  }
  int rows = SIZE(1000000, 301), width = SIZE(32, 5);
  CASE(spmv_csr) {
    int *start = ints(rows + 1, 1);
    for (int i = 0; i < rows; i++)
      start[i + 1] = start[i] + (int)((next() >> 33) % (unsigned)(2 * width));
    int *column = ints(start[rows], rows);
    x = floats(start[rows], 0, 1), z = floats(rows, 0, 1), y = floats(rows, 0, 1);
    RUN(spmv_csr, y, rows, (rows, start, column, x, z, y));
  }
  CASE(spmv_ell) {
    int *column = ints((long)rows * width, rows);
    x = floats((long)rows * width, 0, 1), z = floats(rows, 0, 1), y = floats(rows, 0, 1);
    RUN(spmv_ell, y, rows, (rows, width, (void *)column, (void *)x, z, y));
  }
  CASE(radius7) {
    int *a = ints(N, 1000), *b = ints(N, 1000);
    RUN(radius7, b, N, (N, a, b));
  }
  int cube = SIZE(400, 21);
  long cells = (long)cube * cube * cube;
  CASE(sweep3d) {
    double *a = doubles(cells, 0, 1), *b = doubles(cells, 0, 1);
    RUN(sweep3d, b, cells, (cube, (void *)a, (void *)b));
  }
  CASE(box27) {
    x = floats(cells, 0, 1), y = floats(cells, 0, 1);
    RUN(box27, y, cells, (cube, (void *)x, (void *)y));
  }
  CASE(jacobi) {
    int n = SIZE(4096, 67), steps = SIZE(50, 5);
    x = floats((long)n * n, 0, 1), y = floats((long)n * n, 0, 1);
    RUN(jacobi, x, (long)n * n, (steps, n, (void *)x, (void *)y));
  }
  return 0;
}
