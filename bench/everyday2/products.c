/* Products of matrices and tensors, convolutions, statistics. */
#include "everyday2.h"

KERNEL conv3x3(int b, int k, int c, int n, const float x[b][c][n + 2][n + 2], const float w[k][c][3][3], float y[b][k][n][n]) {
  for (int i = 0; i < b; i++)
    for (int f = 0; f < k; f++)
      for (int p = 0; p < n; p++)
        for (int q = 0; q < n; q++) {
          float sum = 0;
          for (int d = 0; d < c; d++)
            for (int r = 0; r < 3; r++)
              for (int s = 0; s < 3; s++)
                sum += x[i][d][p + r][q + s] * w[f][d][r][s];
          y[i][f][p][q] = sum;
        }
}

KERNEL conv1x1(int b, int k, int c, int n, const float x[b][c][n], const float w[k][c], const float *bias, float y[b][k][n]) {
  for (int i = 0; i < b; i++)
    for (int f = 0; f < k; f++)
      for (int p = 0; p < n; p++) {
        y[i][f][p] = bias[f];
        for (int d = 0; d < c; d++)
          y[i][f][p] += x[i][d][p] * w[f][d];
      }
}

KERNEL conv_strided(int b, int k, int c, int n, const float x[b][c][2 * n + 5][2 * n + 5], const float w[k][c][7][7], float y[b][k][n][n]) {
  for (int i = 0; i < b; i++)
    for (int f = 0; f < k; f++)
      for (int p = 0; p < n; p++)
        for (int q = 0; q < n; q++) {
          float sum = 0;
          for (int d = 0; d < c; d++)
            for (int r = 0; r < 7; r++)
              for (int s = 0; s < 7; s++)
                sum += x[i][d][2 * p + r][2 * q + s] * w[f][d][r][s];
          y[i][f][p][q] = sum > 0 ? sum : 0;
        }
}

KERNEL depthwise(int b, int c, int n, const float x[b][c][n + 2][n + 2], const float w[c][3][3], float y[b][c][n][n]) {
  for (int i = 0; i < b; i++)
    for (int d = 0; d < c; d++)
      for (int p = 0; p < n; p++)
        for (int q = 0; q < n; q++) {
          float sum = 0;
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              sum += x[i][d][p + r][q + s] * w[d][r][s];
          y[i][d][p][q] = sum;
        }
}

KERNEL max_pool(int planes, int n, int m, const float x[planes][2 * n][2 * m], float y[planes][n][m]) {
  for (int c = 0; c < planes; c++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) {
        float v = x[c][2 * i][2 * j];
        for (int p = 0; p < 2; p++)
          for (int q = 0; q < 2; q++)
            if (x[c][2 * i + p][2 * j + q] > v)
              v = x[c][2 * i + p][2 * j + q];
        y[c][i][j] = v;
      }
}

KERNEL gemm(int n, int m, int l, float alpha, const float A[n][l], const float B[l][m], float beta, float C[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float sum = 0;
      for (int k = 0; k < l; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = alpha * sum + beta * C[i][j];
    }
}

KERNEL gemm_small(int n, const float A[n][n], const float B[n][n], float C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i][j] = 0;
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
}

KERNEL tall(int n, int m, const float A[n][m], const float B[m][m], float C[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float sum = 0;
      for (int k = 0; k < m; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}

KERNEL gram(int n, int m, const float A[n][m], float C[m][m]) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      float sum = 0;
      for (int k = 0; k < n; k++)
        sum += A[k][i] * A[k][j];
      C[i][j] = sum;
    }
}

KERNEL batched(int b, int n, const float A[b][n][n], const float B[b][n][n], float C[b][n][n]) {
  for (int t = 0; t < b; t++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        float sum = 0;
        for (int k = 0; k < n; k++)
          sum += A[t][i][k] * B[t][k][j];
        C[t][i][j] = sum;
      }
}

KERNEL syrk(int n, int m, float alpha, float beta, const float A[n][m], float C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      C[i][j] *= beta;
      for (int k = 0; k < m; k++)
        C[i][j] += alpha * A[i][k] * A[j][k];
    }
}

KERNEL symm(int n, int m, const float A[n][n], const float B[n][m], float C[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float sum = 0;
      for (int k = 0; k < n; k++)
        sum += (k <= i ? A[i][k] : A[k][i]) * B[k][j];
      C[i][j] = sum;
    }
}

KERNEL trmm(int n, int m, const float A[n][n], const float B[n][m], float C[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float sum = 0;
      for (int k = 0; k <= i; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}

KERNEL mttkrp(int n, int r, const float X[n][n][n], const float B[n][r], const float C[n][r], float M[n][r]) {
  for (int i = 0; i < n; i++)
    for (int f = 0; f < r; f++) {
      float sum = 0;
      for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
          sum += X[i][j][k] * B[j][f] * C[k][f];
      M[i][f] = sum;
    }
}

KERNEL matvec(int n, int m, const float A[n][m], const float *x, float *y) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int j = 0; j < m; j++)
      sum += A[i][j] * x[j];
    y[i] = sum;
  }
}

KERNEL matvec_t(int n, int m, const float A[n][m], const float *x, float *y) {
  for (int j = 0; j < m; j++)
    y[j] = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[j] += A[i][j] * x[i];
}

KERNEL rank_one(int n, int m, float alpha, const float *x, const float *y, float A[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      A[i][j] += alpha * x[i] * y[j];
}

KERNEL covariance(int n, int m, float x[n][m], float *mean, float c[m][m]) {
  for (int j = 0; j < m; j++) {
    mean[j] = 0;
    for (int i = 0; i < n; i++)
      mean[j] += x[i][j];
    mean[j] /= n;
  }
  for (int i = 0; i < m; i++)
    for (int j = i; j < m; j++) {
      float sum = 0;
      for (int k = 0; k < n; k++)
        sum += (x[k][i] - mean[i]) * (x[k][j] - mean[j]);
      c[i][j] = c[j][i] = sum / (n - 1);
    }
}

KERNEL distances(int n, int m, int d, const float a[n][d], const float b[m][d], float y[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float sum = 0;
      for (int k = 0; k < d; k++)
        sum += (a[i][k] - b[j][k]) * (a[i][k] - b[j][k]);
      y[i][j] = sqrtf(sum);
    }
}

KERNEL assign(int n, int k, int d, const float x[n][d], const float centre[k][d], int *nearest) {
  for (int i = 0; i < n; i++) {
    float least = FLT_MAX;
    int best = 0;
    for (int c = 0; c < k; c++) {
      float sum = 0;
      for (int j = 0; j < d; j++)
        sum += (x[i][j] - centre[c][j]) * (x[i][j] - centre[c][j]);
      if (sum < least) {
        least = sum;
        best = c;
      }
    }
    nearest[i] = best;
  }
}

KERNEL transform(long n, const float R[3][4], const float p[n][3], float q[n][3]) {
  for (long i = 0; i < n; i++)
    for (int j = 0; j < 3; j++)
      q[i][j] = R[j][0] * p[i][0] + R[j][1] * p[i][1] + R[j][2] * p[i][2] + R[j][3];
}

KERNEL contract(int n, const float A[n][n][n], const float B[n][n], float C[n][n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        float sum = 0;
        for (int l = 0; l < n; l++)
          sum += A[i][l][k] * B[l][j];
        C[i][j][k] = sum;
      }
}

HOST int main(int argc, char **argv) {
  begin(argc, argv);
  float *x, *w, *y, *z;
  CASE(conv3x3) {
    int b = SIZE(16, 2), k = SIZE(128, 5), c = SIZE(128, 3), n = SIZE(56, 11);
    x = floats((long)b * c * (n + 2) * (n + 2), -1, 1), w = floats((long)k * c * 9, -1, 1), y = floats((long)b * k * n * n, 0, 1);
    RUN(conv3x3, y, (long)b * k * n * n, (b, k, c, n, (void *)x, (void *)w, (void *)y));
  }
  CASE(conv1x1) {
    int b = SIZE(32, 2), k = SIZE(256, 5), c = SIZE(256, 7), n = SIZE(28 * 28, 49);
    x = floats((long)b * c * n, -1, 1), w = floats((long)k * c, -1, 1), z = floats(k, -1, 1), y = floats((long)b * k * n, 0, 1);
    RUN(conv1x1, y, (long)b * k * n, (b, k, c, n, (void *)x, (void *)w, z, (void *)y));
  }
  CASE(conv_strided) {
    int b = SIZE(32, 2), k = SIZE(64, 5), c = 3, n = SIZE(112, 11);
    x = floats((long)b * c * (2 * n + 5) * (2 * n + 5), -1, 1), w = floats((long)k * c * 49, -1, 1), y = floats((long)b * k * n * n, 0, 1);
    RUN(conv_strided, y, (long)b * k * n * n, (b, k, c, n, (void *)x, (void *)w, (void *)y));
  }
  CASE(depthwise) {
    int b = SIZE(32, 2), c = SIZE(128, 3), n = SIZE(112, 17);
    x = floats((long)b * c * (n + 2) * (n + 2), -1, 1), w = floats((long)c * 9, -1, 1), y = floats((long)b * c * n * n, 0, 1);
    RUN(depthwise, y, (long)b * c * n * n, (b, c, n, (void *)x, (void *)w, (void *)y));
  }
  CASE(max_pool) {
    int planes = SIZE(2048, 3), n = SIZE(112, 9), m = SIZE(112, 13);
    x = floats(4l * planes * n * m, -1, 1), y = floats((long)planes * n * m, 0, 1);
    RUN(max_pool, y, (long)planes * n * m, (planes, n, m, (void *)x, (void *)y));
  }
#define MATRICES(name, a, b, c, call)                                                                                                      \
  CASE(name) {                                                                                                                             \
    x = floats(a, -1, 1), w = floats(b, -1, 1), z = floats(b, -1, 1), y = floats(c, -1, 1);                                                \
    RUN(name, y, c, call);                                                                                                                 \
  }
  long n = SIZE(2048, 65), m = SIZE(2048, 37), s = SIZE(384, 33), t = SIZE(1000000, 401), h = SIZE(32, 9), b = SIZE(100000, 21), k = SIZE(16, 5);
  MATRICES(gemm, n * m, m * n, n * n, (n, n, m, 1.5f, (void *)x, (void *)w, 0.5f, (void *)y))
  MATRICES(gemm_small, s * s, s * s, s * s, (s, (void *)x, (void *)w, (void *)y))
  MATRICES(tall, t * h, h * h, t * h, (t, h, (void *)x, (void *)w, (void *)y))
  MATRICES(gram, t * h, 1, h * h, (t, h, (void *)x, (void *)y))
  MATRICES(batched, b * k * k, b * k * k, b * k * k, (b, k, (void *)x, (void *)w, (void *)y))
  MATRICES(syrk, n * m, 1, n * n, (n, m, 1.5f, 0.5f, (void *)x, (void *)y))
  MATRICES(symm, n * n, n * m, n * m, (n, m, (void *)x, (void *)w, (void *)y))
  MATRICES(trmm, n * n, n * m, n * m, (n, m, (void *)x, (void *)w, (void *)y))
  long g = SIZE(384, 19), r = SIZE(32, 7), e = SIZE(8192, 77), f = SIZE(8192, 91), q = SIZE(256, 13);
  MATRICES(mttkrp, g * g * g, g * r, g * r, (g, r, (void *)x, (void *)w, (void *)z, (void *)y))
  MATRICES(matvec, e * f, f, e, (e, f, (void *)x, w, y))
  MATRICES(matvec_t, e * f, e, f, (e, f, (void *)x, w, y))
  MATRICES(rank_one, e, f, e * f, (e, f, 0.5f, x, w, (void *)y))
  MATRICES(contract, q * q * q, q * q, q * q * q, (q, (void *)x, (void *)w, (void *)y))
  long rows = SIZE(4096, 99), columns = SIZE(1024, 23), points = SIZE(200000, 301), centres = SIZE(256, 11), d = SIZE(64, 9);
  MATRICES(covariance, rows * columns, columns, columns * columns, (rows, columns, (void *)x, w, (void *)y))
  MATRICES(distances, n * d, m * d, n * m, (n, m, d, (void *)x, (void *)w, (void *)y))
  CASE(assign) {
    x = floats(points * d, -1, 1), w = floats(centres * d, -1, 1);
    int *nearest = ints(points, 9);
    RUN(assign, nearest, points, (points, centres, d, (void *)x, (void *)w, nearest));
  }
  long clouds = SIZE(1l << 24, 10007);
  MATRICES(transform, 12 + 3 * clouds, 1, 3 * clouds, (clouds, (void *)x, (void *)(x + 12), (void *)y))
  return 0;
}
