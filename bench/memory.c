/* Loops that memory bounds, as they stand in programs of all kinds: `memory SIZE [NAME]` runs each four times (or the one of that name) and
 * prints a hash of what it computed. SIZE 0 is small; 1 is what bench/memory.py measures, arrays of some 256 MB that no cache holds. */
#define LOW 0.5
#define HIGH 1.5
#include "loops.h"

KERNEL void copy(long n, float *restrict a, const float *restrict b) {
  for (long i = 0; i < n; i++)
    a[i] = b[i];
}

KERNEL void copy_2d(int n, int m, float a[n][m], float b[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = b[i][j];
}

KERNEL void copy_part(int n, int m, float a[n][m], float b[n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      a[i][j] = b[i][j];
}

KERNEL void copy_bytes(long n, unsigned char *restrict a, const unsigned char *restrict b) {
  for (long i = 0; i < n; i++)
    a[i] = b[i] ^ 255;
}

KERNEL void scale(long n, double *a, double s) {
  for (long i = 0; i < n; i++)
    a[i] *= s;
}

KERNEL void axpy(long n, double s, const double *x, double *y) {
  for (long i = 0; i < n; i++)
    y[i] += s * x[i];
}

KERNEL void triad(long n, float *a, const float *b, const float *c) {
  for (long i = 0; i < n; i++)
    a[i] = b[i] + 3.0f * c[i];
}

KERNEL void transpose(int n, int m, float a[m][n], float b[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[j][i] = b[i][j];
}

KERNEL void transpose_double(int n, int m, double a[m][n], double b[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[j][i] = b[i][j];
}

KERNEL void transpose_bytes(int n, int m, unsigned char a[m][n], unsigned char b[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[j][i] = b[i][j];
}

/* Axes (i, j, k) to (k, i, j): channels last to channels first. */
KERNEL void permute(int n, int m, int c, float a[c][n][m], float b[n][m][c]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < c; k++)
        a[k][i][j] = b[i][j][k];
}

/* Axes (i, j, k) to (j, i, k): rows of k stay together. */
KERNEL void permute_rows(int n, int m, int c, float a[m][n][c], float b[n][m][c]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < c; k++)
        a[j][i][k] = b[i][j][k];
}

KERNEL void every_second(long n, float *restrict a, const float *restrict b) {
  for (long i = 0; i < n; i++)
    a[i] = b[2 * i];
}

KERNEL void interleave(long n, float *restrict a, const float *restrict b) {
  for (long i = 0; i < n; i++) {
    a[2 * i] = b[i];
    a[2 * i + 1] = b[n + i];
  }
}

KERNEL void reverse(long n, float *restrict a, const float *restrict b) {
  for (long i = 0; i < n; i++)
    a[i] = b[n - 1 - i];
}

KERNEL void brighten(long n, unsigned char *restrict a, const unsigned char *restrict b) {
  for (long i = 0; i < n; i++) {
    int v = b[i] + 40;
    a[i] = v > 255 ? 255 : v;
  }
}

KERNEL void threshold(int h, int w, unsigned char a[h][w], unsigned char b[h][w]) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      a[y][x] = b[y][x] > 128 ? 255 : 0;
}

KERNEL void widen(long n, float *restrict a, const unsigned char *restrict b) {
  for (long i = 0; i < n; i++)
    a[i] = b[i] * (1.0f / 255);
}

KERNEL void narrow(long n, unsigned char *restrict a, const float *restrict b) {
  for (long i = 0; i < n; i++)
    a[i] = (unsigned char)(b[i] * 100.0f);
}

KERNEL void add_rows(int n, int m, float a[n][m], const float *b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] += b[j];
}

KERNEL void add_columns(int n, int m, float a[n][m], const float *b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] *= b[i];
}

KERNEL void five(int n, int m, float a[n][m], float b[n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      a[i][j] = 0.2f * (b[i][j] + b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1]);
}

KERNEL void seven(int n, double a[n][n][n], double b[n][n][n]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      for (int k = 1; k < n - 1; k++)
        a[i][j][k] = 0.4 * b[i][j][k] + 0.1 * (b[i - 1][j][k] + b[i + 1][j][k] + b[i][j - 1][k] + b[i][j + 1][k] + b[i][j][k - 1] + b[i][j][k + 1]);
}

KERNEL void radius_7(long n, int *restrict a, const int *restrict b) {
  for (long i = 7; i < n - 7; i++) {
    int s = 0;
    for (int k = -7; k <= 7; k++)
      s += b[i + k];
    a[i] = s;
  }
}

KERNEL void along_rows(int n, int m, float a[n][m], float b[n][m], const float *w) {
  for (int i = 0; i < n; i++)
    for (int j = 8; j < m - 8; j++) {
      float s = 0;
      for (int k = -8; k <= 8; k++)
        s += w[k + 8] * b[i][j + k];
      a[i][j] = s;
    }
}

KERNEL void along_columns(int n, int m, float a[n][m], float b[n][m], const float *w) {
  for (int i = 8; i < n - 8; i++)
    for (int j = 0; j < m; j++) {
      float s = 0;
      for (int k = -8; k <= 8; k++)
        s += w[k + 8] * b[i + k][j];
      a[i][j] = s;
    }
}

KERNEL void shrink(int n, int m, float a[n][m], float b[2 * n][2 * m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = 0.25f * (b[2 * i][2 * j] + b[2 * i][2 * j + 1] + b[2 * i + 1][2 * j] + b[2 * i + 1][2 * j + 1]);
}

KERNEL void enlarge(int n, int m, float a[2 * n][2 * m], float b[n][m]) {
  for (int i = 0; i < 2 * n; i++)
    for (int j = 0; j < 2 * m; j++)
      a[i][j] = b[i / 2][j / 2];
}

KERNEL void pixels(long n, unsigned char (*restrict a)[4], unsigned char (*restrict b)[4]) {
  for (long i = 0; i < n; i++) {
    a[i][0] = b[i][2];
    a[i][1] = b[i][1];
    a[i][2] = b[i][0];
    a[i][3] = b[i][3];
  }
}

KERNEL void grey(long n, unsigned char *restrict a, unsigned char (*restrict b)[3]) {
  for (long i = 0; i < n; i++)
    a[i] = (unsigned char)((b[i][0] * 77 + b[i][1] * 150 + b[i][2] * 29) >> 8);
}

KERNEL void complex_products(long n, float (*restrict a)[2], float (*b)[2], float (*c)[2]) {
  for (long i = 0; i < n; i++) {
    a[i][0] = b[i][0] * c[i][0] - b[i][1] * c[i][1];
    a[i][1] = b[i][0] * c[i][1] + b[i][1] * c[i][0];
  }
}

KERNEL void lowest(int n, long m, int a[n][m], int *least) {
  for (int i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      least[j] = a[i][j] < least[j] ? a[i][j] : least[j];
}

KERNEL void adam(long n, float *restrict w, const float *restrict g, float *restrict m, float *restrict v, float rate) {
  for (long i = 0; i < n; i++) {
    m[i] = 0.9f * m[i] + 0.1f * g[i];
    v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
    w[i] -= rate * m[i] / (sqrtf(v[i]) + 1e-8f);
  }
}

static int *integers(size_t n) {
  int *p = malloc(n * sizeof *p);
  for (size_t i = 0; i < n; i++)
    p[i] = (int)(next() >> 40);
  return p;
}

static unsigned char *bytes(size_t n) {
  unsigned char *p = malloc(n);
  for (size_t i = 0; i < n; i++)
    p[i] = next() >> 33;
  return p;
}

int main(int argc, char **argv) {
  int large = argc > 1 && atoi(argv[1]);
  long N = large ? 1l << 26 : 20011, B = large ? 1l << 28 : 20011;
  int n = large ? 8192 : 131, m = large ? 8192 : 149, c = large ? 64 : 19, q = large ? 1024 : 31, cube = large ? 320 : 25;
  long M = (long)n * m;
  long D = M > (long)cube * cube * cube ? M : (long)cube * cube * cube;
  int rows = large ? 200 : 7;
  long columns = large ? 500000 : 300;
  float *f0 = floats(N > M ? N : M), *f1 = floats(N > M ? N : M), *f2 = floats(N > M ? N : M), *f3 = floats(N > M ? N : M);
  double *d0 = doubles(D), *d1 = doubles(D);
  unsigned char *u0 = bytes(B > M ? B : M), *u1 = bytes(B > M ? B : M);
  int *i0 = integers(2 * N), *i1 = integers(2 * N);
  unsigned char (*p0)[4] = (void *)u0, (*p1)[4] = (void *)u1;

  RUN(copy, , (N, f0, f1), f0, N * 4)
  RUN(copy_2d, , (n, m, (void *)f0, (void *)f1), f0, M * 4)
  RUN(copy_part, , (n, m, (void *)f0, (void *)f1), f0, M * 4)
  RUN(copy_bytes, , (B, u0, u1), u0, B)
  RUN(scale, , (D, d0, 1.25), d0, D * 8)
  RUN(axpy, , (D, 0.5, d0, d1), d1, D * 8)
  RUN(triad, , (N, f0, f1, f2), f0, N * 4)
  RUN(transpose, , (n, m, (void *)f0, (void *)f1), f0, M * 4)
  RUN(transpose_double, , (n, m, (void *)d0, (void *)d1), d0, M * 8)
  RUN(transpose_bytes, , (n, m, (void *)u0, (void *)u1), u0, M)
  RUN(permute, , (q, q, c, (void *)f0, (void *)f1), f0, (long)q * q * c * 4)
  RUN(permute_rows, , (q, q, c, (void *)f0, (void *)f1), f0, (long)q * q * c * 4)
  RUN(every_second, , (N / 2, f0, f1), f0, N * 2)
  RUN(interleave, , (N / 2, f0, f1), f0, N * 4)
  RUN(reverse, , (N, f0, f1), f0, N * 4)
  RUN(brighten, , (B, u0, u1), u0, B)
  RUN(threshold, , (n, m, (void *)u0, (void *)u1), u0, M)
  RUN(widen, , (N, f0, u1), f0, N * 4)
  RUN(narrow, , (N, u0, f1), u0, N)
  RUN(add_rows, , (n, m, (void *)f0, f1), f0, M * 4)
  RUN(add_columns, , (n, m, (void *)f0, f1), f0, M * 4)
  RUN(five, , (n, m, (void *)f0, (void *)f1), f0, M * 4)
  RUN(seven, , (cube, (void *)d0, (void *)d1), d0, (long)cube * cube * cube * 8)
  RUN(radius_7, , (2 * N, i0, i1), i0, N * 8)
  RUN(along_rows, , (n, m, (void *)f0, (void *)f1, f2), f0, M * 4)
  RUN(along_columns, , (n, m, (void *)f0, (void *)f1, f2), f0, M * 4)
  RUN(shrink, , (n / 2, m / 2, (void *)f0, (void *)f1), f0, M)
  RUN(enlarge, , (n / 2, m / 2, (void *)f0, (void *)f1), f0, M * 4)
  RUN(pixels, , (B / 4, p0, p1), u0, B / 4 * 4)
  RUN(grey, , (B / 3, u0, (void *)u1), u0, B / 3)
  RUN(complex_products, , (N / 2, (void *)f0, (void *)f1, (void *)f2), f0, N / 2 * 8)
  RUN(lowest, , (rows, columns, (void *)i0, i1), i1, columns * 4)
  RUN(adam, , (N, f0, f1, f2, f3, 0.01f), f0, N * 4)
  return 0;
}
