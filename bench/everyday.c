/* Loops as they stand in programs of all kinds, none of them made for a GPU: `everyday SIZE [NAME]` runs each four times (or the one of that name)
 * and prints a hash of what it computed. SIZE 0 is small, to be compared with the plain program (bilateral, softmax and options differ in last bits:
 * functions of the C library); 1 is what bench/notes/004-everyday-loops.md has figures of. */
#define LOW 0.5
#define HIGH 1.5
#include "loops.h"

KERNEL void triad(long n, float *a, const float *b, const float *c) {
  for (long i = 0; i < n; i++)
    a[i] = b[i] + 3.0f * c[i];
}

KERNEL void transpose(int n, double A[n][n], double B[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      B[j][i] = A[i][j];
}

KERNEL void softmax(int n, int m, float A[n][m]) {
  for (int i = 0; i < n; i++) {
    float largest = A[i][0], sum = 0;
    for (int j = 1; j < m; j++)
      if (A[i][j] > largest)
        largest = A[i][j];
    for (int j = 0; j < m; j++) {
      A[i][j] = expf(A[i][j] - largest);
      sum += A[i][j];
    }
    for (int j = 0; j < m; j++)
      A[i][j] /= sum;
  }
}

KERNEL void normalise(int n, int m, const float *x, const float *g, const float *b, float *y) {
  for (int i = 0; i < n; i++) {
    float mean = 0, var = 0;
    for (int j = 0; j < m; j++)
      mean += x[i * m + j];
    mean /= m;
    for (int j = 0; j < m; j++) {
      float d = x[i * m + j] - mean;
      var += d * d;
    }
    float inv = 1.0f / sqrtf(var / m + 1e-5f);
    for (int j = 0; j < m; j++)
      y[i * m + j] = (x[i * m + j] - mean) * inv * g[j] + b[j];
  }
}

KERNEL void rows(int n, const double *A, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < n; j++)
      s += A[i * n + j] * x[j];
    y[i] = s;
  }
}

KERNEL void columns(int n, const double *A, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < n; j++)
      s += A[j * n + i] * x[j];
    y[i] = s;
  }
}

KERNEL void integral(int n, float I[n][n]) {
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++)
      I[i][j] += I[i - 1][j] + I[i][j - 1] - I[i - 1][j - 1];
}

KERNEL void filter(long n, int k, const float *x, const float *w, float *y) {
  for (long i = 0; i < n - k; i++) {
    float s = 0;
    for (int j = 0; j < k; j++)
      s += x[i + j] * w[j];
    y[i] = s;
  }
}

KERNEL void tridiagonal(int n, double a[n][n], double b[n][n], double c[n][n], double d[n][n]) {
  for (int j = 0; j < n; j++) {
    for (int i = 1; i < n; i++) {
      double w = a[i][j] / b[i - 1][j];
      b[i][j] -= w * c[i - 1][j];
      d[i][j] -= w * d[i - 1][j];
    }
    d[n - 1][j] /= b[n - 1][j];
    for (int i = n - 2; i >= 0; i--)
      d[i][j] = (d[i][j] - c[i][j] * d[i + 1][j]) / b[i][j];
  }
}

KERNEL void options(long n, const double *S, const double *X, const double *T, double *call) {
  for (long i = 0; i < n; i++) {
    double d1 = (log(S[i] / X[i]) + (0.02 + 0.045) * T[i]) / (0.3 * sqrt(T[i])), d2 = d1 - 0.3 * sqrt(T[i]);
    call[i] = S[i] * 0.5 * erfc(-d1 * 0.7071) - X[i] * exp(-0.02 * T[i]) * 0.5 * erfc(-d2 * 0.7071);
  }
}

KERNEL void pool(int c, int n, float in[c][2 * n][2 * n], float out[c][n][n]) {
  for (int k = 0; k < c; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        float m = in[k][2 * i][2 * j];
        for (int a = 0; a < 2; a++)
          for (int b = 0; b < 2; b++)
            m = fmaxf(m, in[k][2 * i + a][2 * j + b]);
        out[k][i][j] = m;
      }
}

KERNEL void life(int n, unsigned char a[n][n], unsigned char b[n][n]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      int s = a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j - 1] +
              a[i + 1][j] + a[i + 1][j + 1];
      b[i][j] = s == 3 || (s == 2 && a[i][j]);
    }
}

KERNEL void by_columns(int n, double A[n][n], double B[n][n]) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      A[i][j] += 2.0 * B[i][j];
}

KERNEL void bilateral(int n, float in[n][n], float out[n][n]) {
  for (int y = 3; y < n - 3; y++)
    for (int x = 3; x < n - 3; x++) {
      float s = 0, t = 0;
      for (int dy = -3; dy <= 3; dy++)
        for (int dx = -3; dx <= 3; dx++) {
          float d = in[y + dy][x + dx] - in[y][x], g = expf(-d * d * 8.0f - (dx * dx + dy * dy) * 0.1f);
          s += g * in[y + dy][x + dx];
          t += g;
        }
      out[y][x] = s / t;
    }
}

KERNEL void statistics(int n, int m, double X[n][m], double mean[m], double sd[m]) {
  for (int j = 0; j < m; j++) {
    mean[j] = 0;
    for (int i = 0; i < n; i++)
      mean[j] += X[i][j];
    mean[j] /= n;
  }
  for (int j = 0; j < m; j++) {
    sd[j] = 0;
    for (int i = 0; i < n; i++)
      sd[j] += (X[i][j] - mean[j]) * (X[i][j] - mean[j]);
    sd[j] = sqrt(sd[j] / n);
  }
}

KERNEL void products(int b, int k, float A[b][k][k], float B[b][k][k], float C[b][k][k]) {
  for (int p = 0; p < b; p++)
    for (int i = 0; i < k; i++)
      for (int j = 0; j < k; j++) {
        float s = 0;
        for (int l = 0; l < k; l++)
          s += A[p][i][l] * B[p][l][j];
        C[p][i][j] = s;
      }
}

KERNEL void grey(long n, const unsigned char *rgb, unsigned char *g) {
  for (long i = 0; i < n; i++)
    g[i] = (unsigned char)((77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8);
}

struct particle {
  float x, y, z, vx, vy, vz, m;
};

KERNEL void move(long n, struct particle *p, float dt) {
  for (long i = 0; i < n; i++) {
    p[i].x += dt * p[i].vx;
    p[i].y += dt * p[i].vy;
    p[i].z += dt * p[i].vz;
  }
}

KERNEL void red_black(int steps, int n, double u[n][n], double f[n][n]) {
  for (int t = 0; t < steps; t++)
    for (int c = 0; c < 2; c++)
      for (int i = 1; i < n - 1; i++)
        for (int j = 1 + (i + c) % 2; j < n - 1; j += 2)
          u[i][j] += 1.5 * (0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]) - u[i][j]);
}

KERNEL void correlate(int n, int k, float in[n][n], float w[k][k], float out[n][n]) {
  for (int y = 0; y < n - k; y++)
    for (int x = 0; x < n - k; x++) {
      float s = 0;
      for (int a = 0; a < k; a++)
        for (int b = 0; b < k; b++)
          s += in[y + a][x + b] * w[a][b];
      out[y][x] = s;
    }
}

KERNEL void copied_back(int steps, long n, float *a, float *b) {
  for (int t = 0; t < steps; t++) {
    for (long i = 1; i < n - 1; i++)
      b[i] = 0.33f * (a[i - 1] + a[i] + a[i + 1]);
    for (long i = 1; i < n - 1; i++)
      a[i] = b[i];
  }
}

KERNEL void solve(int n, double L[n][n], double B[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = B[i][j];
      for (int k = 0; k < i; k++)
        s -= L[i][k] * B[k][j];
      B[i][j] = s / L[i][i];
    }
}

KERNEL double step(long n, double a, double *restrict r, const double *restrict q) {
#pragma clang fp reassociate(on)
  double rr = 0;
  for (long i = 0; i < n; i++) {
    r[i] -= a * q[i];
    rr += r[i] * r[i];
  }
  return rr;
}

static unsigned char *bytes(size_t n, int mask) {
  unsigned char *p = malloc(n);
  for (size_t i = 0; i < n; i++)
    p[i] = (next() >> 33) & mask;
  return p;
}

int main(int argc, char **argv) {
  int large = argc > 1 && atoi(argv[1]);
  long N = large ? 1l << 26 : 10000;
  int n = large ? 8192 : 129, m = large ? 4096 : 65, h = m / 2, q = m / 4, c = 64, b = large ? 200000 : 37, k = 16;
  long nn = (long)n * n, mm = (long)m * m, bk = (long)b * k * k;
  float *f0 = floats(N), *f1 = floats(N), *f2 = floats(N);
  float *in = floats((long)c * 4 * q * q), *out = floats((long)c * q * q);
  double *d0 = doubles(nn), *d1 = doubles(nn), *d2 = doubles(mm), *d3 = doubles(mm), *d4 = doubles(nn / 4), *v0 = doubles(n), *v1 = doubles(n);
  unsigned char *u0 = bytes(3 * N, 255), *u1 = bytes(nn, 1), *u2 = bytes(nn > N ? nn : N, 255);

  RUN(triad, , (N, f0, f1, f2), f0, N * 4)
  RUN(bilateral, , (m, (void *)f1, (void *)f0), f0, mm * 4)
  RUN(softmax, , (large ? n : 70, m, (void *)f0), f0, N * 4)
  RUN(normalise, , (large ? n : 70, m, f1, f2, f2 + m, f0), f0, N * 4)
  RUN(filter, , (N, 31, f1, f2, f0), f0, N * 4)
  RUN(correlate, , (m, 15, (void *)f1, (void *)f2, (void *)f0), f0, mm * 4)
  RUN(products, , (b, k, (void *)f1, (void *)f2, (void *)f0), f0, bk * 4)
  RUN(integral, , (m, (void *)f0), f0, mm * 4)
  RUN(copied_back, , (large ? 100 : 7, N / 4, f1, f0), f1, N)
  RUN(move, , (N / 7, (void *)f2, 0.01f), f2, N * 4)
  RUN(pool, , (c, q, (void *)in, (void *)out), out, (long)c * q * q * 4)
  RUN(grey, , (N, u0, u2), u2, N)
  RUN(life, , (n, (void *)u1, (void *)u2), u2, nn)
  RUN(options, , (nn / 4, d0, d1, d1 + nn / 4, d4), d4, nn / 4 * 8)
  RUN(rows, , (n, d0, v0, v1), v1, n * 8)
  RUN(columns, , (n, d0, v0, v1), v1, n * 8)
  RUN(statistics, , (n, m, (void *)d0, v0, v1), v1, m * 8)
  RUN(transpose, , (n, (void *)d0, (void *)d1), d1, nn * 8)
  RUN(by_columns, , (n, (void *)d0, (void *)d1), d0, nn * 8)
  RUN(solve, , (h, (void *)d0, (void *)d1), d1, (long)h * h * 8)
  RUN(red_black, , (large ? 50 : 3, m, (void *)d2, (void *)d3), d2, mm * 8)
  RUN(tridiagonal, , (m, (void *)d0, (void *)d1, (void *)d2, (void *)d3), d3, mm * 8)
  RUN(step, , (nn, 0.5, d0, d1), d0, nn * 8)
  return 0;
}
