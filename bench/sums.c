/* Sums and maxima over several loops, in any order and in their own: `sums SIZE [NAME]` runs each loop nest four times (or the one of that name) and
 * prints a hash of what it computed, or twelve digits of what may be added in any order. SIZE 0 is small, to be compared with the plain program; 1 is
 * what bench/notes/010-reductions.md has figures of. */
#define LOW -1.0
#define HIGH 1.0
#include "loops.h"

static double result;

KERNEL void norm(long n, const double *x, const double *y) {
  double s = 0;
  for (long i = 0; i < n; i++) {
    double d = fabs(x[i] - y[i]);
    if (d > s)
      s = d;
  }
  result = s;
}

KERNEL void norm_2d(int n, int m, const double x[n][m], const double y[n][m]) {
  double s = 0;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      s = fmax(s, fabs(x[i][j] - y[i][j]));
  result = s;
}

KERNEL void matrix_sum(int n, int m, const double x[n][m]) {
#pragma clang fp reassociate(on)
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      s += x[i][j];
  result = s;
}

KERNEL void dot_3d(int n, const double x[n][n][n], const double y[n][n][n]) {
#pragma clang fp reassociate(on)
  double s = 0;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      for (int k = 1; k < n - 1; k++)
        s += x[i][j][k] * y[i][j][k];
  result = s;
}

KERNEL void mean_and_variance(long n, const double *x) {
#pragma clang fp reassociate(on)
  double s = 0, q = 0;
  for (long i = 0; i < n; i++) {
    s += x[i];
    q += x[i] * x[i];
  }
  result = q / n - (s / n) * (s / n);
}

/* Several of one loop; their peers in CUDA are in bench/peers/sums.cu. */
KERNEL void statistics(long n, const int *a) {
  long s = 0;
  int low = a[0], high = a[0], bits = 0;
  for (long i = 0; i < n; i++) {
    s += a[i];
    bits ^= a[i];
    low = a[i] < low ? a[i] : low;
    high = a[i] > high ? a[i] : high;
  }
  result = (double)s + low + high + bits;
}

KERNEL void box(long n, const float p[n][4]) {
  float x0 = p[0][0], x1 = x0, y0 = p[0][1], y1 = y0, z0 = p[0][2], z1 = z0;
  for (long i = 1; i < n; i++) {
    x0 = fminf(x0, p[i][0]);
    x1 = fmaxf(x1, p[i][0]);
    y0 = fminf(y0, p[i][1]);
    y1 = fmaxf(y1, p[i][1]);
    z0 = fminf(z0, p[i][2]);
    z1 = fmaxf(z1, p[i][2]);
  }
  result = x0 + 2.0 * x1 + 3.0 * y0 + 5.0 * y1 + 7.0 * z0 + 11.0 * z1;
}

KERNEL void moments(long n, const float *a, const float *b) {
#pragma clang fp reassociate(on)
  float s = 0, q = 0, t = 0, d = 0;
  for (long i = 0; i < n; i++) {
    s += a[i];
    q += a[i] * a[i];
    t += b[i];
    d += a[i] * b[i];
  }
  result = (double)s + q + t + d;
}

/* Conjugate gradients for the five-point matrix. */
KERNEL void conjugate(int n, int steps, double x[n][n], double r[n][n], double p[n][n], double q[n][n]) {
#pragma clang fp reassociate(on)
  double rr = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      rr += r[i][j] * r[i][j];
  for (int t = 0; t < steps; t++) {
    double pq = 0, next = 0;
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        q[i][j] = 4 * p[i][j] - p[i - 1][j] - p[i + 1][j] - p[i][j - 1] - p[i][j + 1];
        pq += p[i][j] * q[i][j];
      }
    double alpha = rr / pq;
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        x[i][j] += alpha * p[i][j];
        r[i][j] -= alpha * q[i][j];
        next += r[i][j] * r[i][j];
      }
    double beta = next / rr;
    rr = next;
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        p[i][j] = r[i][j] + beta * p[i][j];
  }
  result = rr;
}

/* The largest eigenvalue. */
KERNEL void power(int n, int steps, const double a[n][n], double *x, double *y) {
#pragma clang fp reassociate(on)
  double s = 0;
  for (int t = 0; t < steps; t++) {
    s = 0;
    for (int i = 0; i < n; i++) {
      double z = 0;
      for (int j = 0; j < n; j++)
        z += a[i][j] * x[j];
      y[i] = z;
    }
    for (int i = 0; i < n; i++)
      s += y[i] * y[i];
    s = sqrt(s);
    for (int i = 0; i < n; i++)
      x[i] = y[i] / s;
  }
  result = s;
}

/* From here on every sum in its order. */
KERNEL void batch_norm(int n, int c, int l, float x[n][c][l], const float *g) {
  for (int k = 0; k < c; k++) {
    float s = 0, q = 0;
    for (int i = 0; i < n; i++)
      for (int z = 0; z < l; z++) {
        s += x[i][k][z];
        q += x[i][k][z] * x[i][k][z];
      }
    float mean = s / (n * l), r = 1 / sqrtf(q / (n * l) - mean * mean + 1);
    for (int i = 0; i < n; i++)
      for (int z = 0; z < l; z++)
        x[i][k][z] = (x[i][k][z] - mean) * r * g[k];
  }
}

KERNEL void last_axis(int n, int m, int l, const float a[n][m][l], float *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float s = 0;
      for (int k = 0; k < l; k++)
        s += a[i][j][k];
      out[i * m + j] = s;
    }
}

KERNEL void last_axes(int n, int m, int l, const float a[n][m][l], float *out) {
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++)
        s += a[i][j][k];
    out[i] = s;
  }
}

KERNEL void first_axes(int n, int m, int l, const float a[n][m][l], float *out) {
  for (int k = 0; k < l; k++) {
    float s = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        s += a[i][j][k];
    out[k] = s;
  }
}

KERNEL void powers(int n, int p, const double a[n][n], double b[n][n], double c[n][n]) {
  for (int t = 0; t < p; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        c[i][j] = 0;
        for (int k = 0; k < n; k++)
          c[i][j] += a[i][k] * b[k][j];
      }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        b[i][j] = c[i][j] / n;
  }
}

/* As RUN, for a sum in any order. */
#define RUN_SUM(name, make, call)                                                                                                \
  if (argc < 3 || !strcmp(argv[2], #name)) {                                                                                     \
    make;                                                                                                                        \
    for (int r = 0; r < 4; r++)                                                                                                  \
      name call;                                                                                                                 \
    printf(#name " %.10g\n", result);                                                                                            \
    fflush(stdout);                                                                                                              \
  }

int main(int argc, char **argv) {
  int large = argc > 1 && atoi(argv[1]) > 0;
  int n = large ? 8192 : 90, m = large ? 400 : 37, w = large ? 2048 : 70;
  size_t all = (size_t)n * n;
  double *x = 0, *y = 0, *u = 0, *v = 0;
  float *f = 0, *g = 0, *out = 0;
  RUN_SUM(norm, (x = doubles(all), y = doubles(all)), (all, x, y))
  RUN_SUM(norm_2d, (x = doubles(all), y = doubles(all)), (n, n, (void *)x, (void *)y))
  RUN_SUM(matrix_sum, x = doubles(all), (2 * n, n / 2, (void *)x))
  RUN_SUM(dot_3d, (x = doubles((size_t)m * m * m), y = doubles((size_t)m * m * m)), (m, (void *)x, (void *)y))
  RUN_SUM(mean_and_variance, x = doubles(all), (all, x))
  RUN_SUM(statistics, f = floats(2 * all), (2 * all, (const int *)f))
  RUN_SUM(box, f = floats(2 * all), (all / 2, (void *)f))
  RUN_SUM(moments, (f = floats(2 * all), g = floats(2 * all)), (2 * all, f, g))
  RUN_SUM(conjugate, (x = doubles(all), y = doubles(all), u = doubles(all), v = doubles(all)), (n, 3, (void *)x, (void *)y, (void *)u, (void *)v))
  RUN_SUM(power, (x = doubles(all), y = doubles(n), u = doubles(n)), (n, 5, (void *)x, y, u))
  int images = large ? 64 : 5, channels = large ? 256 : 7, pixels = large ? 56 * 56 : 77;
  size_t batch = (size_t)images * channels * pixels;
  RUN(batch_norm, (f = floats(batch), g = floats(channels)), (images, channels, pixels, (void *)f, g), f, batch * sizeof *f)
  RUN(last_axis, (f = floats((size_t)m * m * m), out = floats((size_t)m * m)), (m, m, m, (void *)f, out), out, (size_t)m * m * sizeof *out)
  RUN(last_axes, (f = floats(all), out = floats(n)), (n, n / 64 + 1, n / (n / 64 + 1), (void *)f, out), out, n * sizeof *out)
  RUN(first_axes, (f = floats(all), out = floats(n)), (n / 64 + 1, 40, n, (void *)f, out), out, n * sizeof *out)
  RUN(powers, (x = doubles((size_t)w * w), y = doubles((size_t)w * w), u = doubles((size_t)w * w)), (w, 3, (void *)x, (void *)y, (void *)u), y,
      (size_t)w * w * sizeof *y)
  return 0;
}
