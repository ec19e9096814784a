/* Ten dense kernels that nobody tuned for: `unseen SIZE [NAME]` runs each four times (or the one of that name) on random data and prints a hash of what it
 * computed. SIZE 0 is small, to be compared with the plain program; 1 is what bench/notes/007-ten-kernels-more.md has figures of. */
#define LOW -1.0
#define HIGH 1.0
#include "loops.h"

/* LU decompositions of many small matrices, without pivots. */
KERNEL void small_lu(int b, double A[b][8][8]) {
  for (int m = 0; m < b; m++)
    for (int k = 0; k < 8; k++)
      for (int i = k + 1; i < 8; i++) {
        A[m][i][k] /= A[m][k][k];
        for (int j = k + 1; j < 8; j++)
          A[m][i][j] -= A[m][i][k] * A[m][k][j];
      }
}

/* A tensor times a Khatri-Rao product (MTTKRP). */
KERNEL void khatri_rao(int n, int m, int k, int r, float X[n][m][k], float B[m][r], float C[k][r], float M[n][r]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int l = 0; l < k; l++)
        for (int q = 0; q < r; q++)
          M[i][q] += X[i][j][l] * B[j][q] * C[l][q];
}

/* A separable Gauss of seven points on an interleaved image. */
KERNEL void gauss_rgb(int h, int w, float in[h][w][3], float tmp[h][w][3], float out[h][w][3], const float g[7]) {
  for (int y = 0; y < h; y++)
    for (int x = 3; x < w - 3; x++)
      for (int c = 0; c < 3; c++) {
        float s = 0;
        for (int d = -3; d <= 3; d++)
          s += g[d + 3] * in[y][x + d][c];
        tmp[y][x][c] = s;
      }
  for (int y = 3; y < h - 3; y++)
    for (int x = 3; x < w - 3; x++)
      for (int c = 0; c < 3; c++) {
        float s = 0;
        for (int d = -3; d <= 3; d++)
          s += g[d + 3] * tmp[y + d][x][c];
        out[y][x][c] = s;
      }
}

/* Twice the size, bilinear, with channels. */
KERNEL void upscale(int h, int w, int c, float in[h][w][c], float out[2 * h][2 * w][c]) {
  for (int y = 0; y < h - 1; y++)
    for (int x = 0; x < w - 1; x++)
      for (int k = 0; k < c; k++) {
        float a = in[y][x][k], b = in[y][x + 1][k], d = in[y + 1][x][k], e = in[y + 1][x + 1][k];
        out[2 * y][2 * x][k] = a;
        out[2 * y][2 * x + 1][k] = 0.5f * (a + b);
        out[2 * y + 1][2 * x][k] = 0.5f * (a + d);
        out[2 * y + 1][2 * x + 1][k] = 0.25f * (a + b + d + e);
      }
}

/* A convolution with a filter for each channel. */
KERNEL void depthwise(int n, int c, int h, int w, float in[n][c][h][w], float f[c][5][5], float out[n][c][h][w]) {
  for (int b = 0; b < n; b++)
    for (int k = 0; k < c; k++)
      for (int y = 0; y < h - 4; y++)
        for (int x = 0; x < w - 4; x++) {
          float s = 0;
          for (int r = 0; r < 5; r++)
            for (int q = 0; q < 5; q++)
              s += in[b][k][y + r][x + q] * f[k][r][q];
          out[b][k][y][x] = s;
        }
}

/* Distances in the sum norm. */
KERNEL void distances(int n, int m, int d, float X[n][d], float Y[m][d], float D[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float s = 0;
      for (int k = 0; k < d; k++)
        s += fabsf(X[i][k] - Y[j][k]);
      D[i][j] = s;
    }
}

/* Sums of all before, along rows. */
KERNEL void prefix(int n, int m, double A[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++)
      A[i][j] += A[i][j - 1];
}

/* A Kronecker product. */
KERNEL void kronecker(int n, int p, float A[n][n], float B[p][p], float *K) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < p; k++)
        for (int l = 0; l < p; l++)
          K[(i * p + k) * n * p + j * p + l] = A[i][j] * B[k][l];
}

/* An upper triangular solve with many right-hand sides. */
KERNEL void upper_solve(int n, int m, double U[n][n], double B[n][m]) {
  for (int i = n - 1; i >= 0; i--)
    for (int j = 0; j < m; j++) {
      for (int k = i + 1; k < n; k++)
        B[i][j] -= U[i][k] * B[k][j];
      B[i][j] /= U[i][i];
    }
}

/* The trace over two dimensions of a tensor. */
KERNEL void trace(int n, int m, double X[n][m][n][m], double T[n][n]) {
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) {
      double s = 0;
      for (int i = 0; i < m; i++)
        s += X[a][i][b][i];
      T[a][b] = s;
    }
}

int main(int argc, char **argv) {
  int large = argc > 1 && atoi(argv[1]);
  int b = large ? 500000 : 75, n = large ? 4096 : 67, m = large ? 512 : 37, r = large ? 64 : 18, k = large ? 64 : 7;
  long mm = (long)m * m, nn = (long)n * n;
  float *f = floats(nn * 12), *g = floats(nn * 12), *o = calloc(nn * 12, 4);
  double *d = doubles(nn * 2), *e = doubles(nn * 2);
  for (int i = 0; i < n; i++)
    d[(long)i * n + i] = 2 + 0.5 * d[(long)i * n + i];
  RUN(small_lu, for (long i = 0; i < b; i++) for (int j = 0; j < 8; j++) e[i * 64 + j * 9] += 9, (b, (void *)e), e, b * 512l)
  RUN(khatri_rao, , (m, m, m, r, (void *)f, (void *)g, (void *)(g + mm), (void *)o), o, (long)m * r * 4)
  RUN(gauss_rgb, , (n, n, (void *)f, (void *)g, (void *)o, f), o, nn * 12)
  RUN(upscale, , (n, n, 3, (void *)f, (void *)o), o, nn * 48)
  RUN(depthwise, , (k, k, 3 * k, 2 * k, (void *)f, (void *)g, (void *)o), o, (long)k * k * 6 * k * k * 4)
  RUN(distances, , (n, n, m, (void *)f, (void *)g, (void *)o), o, nn * 4)
  RUN(prefix, , (2 * n, n, (void *)e), e, nn * 16)
  RUN(kronecker, , (k, k, (void *)f, (void *)g, o), o, (long)k * k * k * k * 4)
  RUN(upper_solve, , (n / 2, n, (void *)d, (void *)e), e, nn * 4)
  RUN(trace, , (k, k, (void *)d, (void *)e), e, (long)k * k * 8)
  return 0;
}
