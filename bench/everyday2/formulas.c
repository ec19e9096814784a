/* Formulas: finance, particles, geometry, series. */
#include "everyday2.h"

static inline float normal(float x) { return 0.5f * erfcf(-x * 0.70710678f); }

KERNEL black_scholes(long n, float rate, float volatility, const float *price, const float *strike, const float *years, float *call, float *put) {
  for (long i = 0; i < n; i++) {
    float root = volatility * sqrtf(years[i]);
    float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / root;
    float d2 = d1 - root, discount = strike[i] * expf(-rate * years[i]);
    call[i] = price[i] * normal(d1) - discount * normal(d2);
    put[i] = discount * normal(-d2) - price[i] * normal(-d1);
  }
}

KERNEL option_grid(int n, int m, double price, double rate, double volatility, const double *strike, const double *years, double value[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double root = volatility * sqrt(years[j]);
      double d1 = (log(price / strike[i]) + (rate + 0.5 * volatility * volatility) * years[j]) / root;
      value[i][j] = 0.5 * (price * erfc(-d1 * 0.7071067811865476) - strike[i] * exp(-rate * years[j]) * erfc((root - d1) * 0.7071067811865476));
    }
}

KERNEL nbody(int n, const float p[n][3], const float *mass, float a[n][3]) {
  for (int i = 0; i < n; i++) {
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; j++) {
      float dx = p[j][0] - p[i][0], dy = p[j][1] - p[i][1], dz = p[j][2] - p[i][2];
      float d = dx * dx + dy * dy + dz * dz + 0.01f;
      float s = mass[j] / (d * sqrtf(d));
      ax += s * dx, ay += s * dy, az += s * dz;
    }
    a[i][0] = ax, a[i][1] = ay, a[i][2] = az;
  }
}

KERNEL potential(int n, int m, const float x[n], const float y[n], const float charge[n], float v[m][m]) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      float sum = 0;
      for (int k = 0; k < n; k++) {
        float dx = x[k] - j, dy = y[k] - i;
        sum += charge[k] / sqrtf(dx * dx + dy * dy + 1);
      }
      v[i][j] = sum;
    }
}

/* Boxes of particles: each meets those of its own box and of the 26 around. */
KERNEL boxes(int n, int k, const float p[n][n][n][k][4], float f[n][n][n][k][4]) {
  for (int x = 1; x < n - 1; x++)
    for (int y = 1; y < n - 1; y++)
      for (int z = 1; z < n - 1; z++)
        for (int i = 0; i < k; i++) {
          float v = 0, fx = 0, fy = 0, fz = 0;
          for (int a = -1; a <= 1; a++)
            for (int b = -1; b <= 1; b++)
              for (int c = -1; c <= 1; c++)
                for (int j = 0; j < k; j++) {
                  float dx = p[x][y][z][i][0] - p[x + a][y + b][z + c][j][0];
                  float dy = p[x][y][z][i][1] - p[x + a][y + b][z + c][j][1];
                  float dz = p[x][y][z][i][2] - p[x + a][y + b][z + c][j][2];
                  float w = p[x + a][y + b][z + c][j][3] * expf(-0.5f * (dx * dx + dy * dy + dz * dz));
                  v += w, fx += w * dx, fy += w * dy, fz += w * dz;
                }
          f[x][y][z][i][0] = v, f[x][y][z][i][1] = fx, f[x][y][z][i][2] = fy, f[x][y][z][i][3] = fz;
        }
}

KERNEL polynomial(long n, const double *c, const double *x, double *y) {
  for (long i = 0; i < n; i++) {
    double v = c[15];
    for (int k = 14; k >= 0; k--)
      v = v * x[i] + c[k];
    y[i] = v;
  }
}

KERNEL complex_product(long n, const float a[n][2], const float b[n][2], float c[n][2]) {
  for (long i = 0; i < n; i++) {
    c[i][0] = a[i][0] * b[i][0] - a[i][1] * b[i][1];
    c[i][1] = a[i][0] * b[i][1] + a[i][1] * b[i][0];
  }
}

KERNEL haversine(int n, int m, const float *lat1, const float *lon1, const float *lat2, const float *lon2, float d[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float u = sinf((lat2[j] - lat1[i]) * 0.5f), v = sinf((lon2[j] - lon1[i]) * 0.5f);
      d[i][j] = 12742 * asinf(sqrtf(u * u + cosf(lat1[i]) * cosf(lat2[j]) * v * v));
    }
}

KERNEL waves(long n, const double *t, double *y) {
  for (long i = 0; i < n; i++)
    y[i] = exp(-0.1 * t[i]) * sin(3 * t[i]) + pow(t[i], 1.5);
}

KERNEL lorenz(long n, int steps, float h, float *x, float *y, float *z) {
  for (long i = 0; i < n; i++) {
    float a = x[i], b = y[i], c = z[i];
    for (int t = 0; t < steps; t++) {
      float da = 10 * (b - a), db = a * (28 - c) - b, dc = a * b - 2.6666667f * c;
      a += h * da, b += h * db, c += h * dc;
    }
    x[i] = a, y[i] = b, z[i] = c;
  }
}

KERNEL logistic(long n, const double *x, double *y) {
  for (long i = 0; i < n; i++)
    y[i] = 1 / (1 + exp(-x[i]));
}

KERNEL polar(long n, const float *x, const float *y, float *r, float *angle) {
  for (long i = 0; i < n; i++) {
    r[i] = sqrtf(x[i] * x[i] + y[i] * y[i]);
    angle[i] = atan2f(y[i], x[i]);
  }
}

KERNEL quadratic(long n, const float *a, const float *b, const float *c, float *x) {
  for (long i = 0; i < n; i++) {
    float d = b[i] * b[i] - 4 * a[i] * c[i];
    x[i] = (-b[i] + sqrtf(d)) / (2 * a[i]);
    x[n + i] = (-b[i] - sqrtf(d)) / (2 * a[i]);
  }
}

HOST int main(int argc, char **argv) {
  begin(argc, argv);
  long N = SIZE(1l << 25, 10007);
  float *x, *y, *a, *b, *c;
  CASE(black_scholes) {
    a = floats(N, 5, 30), b = floats(N, 1, 100), c = floats(N, 0.25, 10), y = floats(2 * N, 0, 1);
    RUN(black_scholes, y, 2 * N, (N, 0.02f, 0.3f, a, b, c, y, y + N));
  }
  CASE(option_grid) {
    int n = SIZE(4096, 33), m = SIZE(2048, 45);
    double *strike = doubles(n, 10, 100), *years = doubles(m, 0.1, 5), *value = doubles((long)n * m, 0, 1);
    RUN(option_grid, value, (long)n * m, (n, m, 50, 0.02, 0.3, strike, years, (void *)value));
  }
  CASE(nbody) {
    int n = SIZE(65536, 129);
    a = floats(3l * n, -1, 1), b = floats(n, 0.5, 1), y = floats(3l * n, 0, 1);
    RUN(nbody, y, 3l * n, (n, (void *)a, b, (void *)y));
  }
  CASE(potential) {
    int n = SIZE(2000, 21), m = SIZE(1024, 37);
    a = floats(n, 0, m), b = floats(n, 0, m), c = floats(n, -1, 1), y = floats((long)m * m, 0, 1);
    RUN(potential, y, (long)m * m, (n, m, a, b, c, (void *)y));
  }
  CASE(boxes) {
    int n = SIZE(14, 4), k = SIZE(100, 9);
    long all = 4l * n * n * n * k;
    a = floats(all, 0, 1), y = floats(all, 0, 1);
    RUN(boxes, y, all, (n, k, (void *)a, (void *)y));
  }
  CASE(polynomial) {
    double *c = doubles(16, -1, 1), *x = doubles(N, -1, 1), *y = doubles(N, 0, 1);
    RUN(polynomial, y, N, (N, c, x, y));
  }
  CASE(complex_product) {
    a = floats(2 * N, -1, 1), b = floats(2 * N, -1, 1), y = floats(2 * N, 0, 1);
    RUN(complex_product, y, 2 * N, (N, (void *)a, (void *)b, (void *)y));
  }
  CASE(haversine) {
    int n = SIZE(4096, 33), m = SIZE(8192, 45);
    a = floats(n, -1.5, 1.5), b = floats(n, -3, 3), c = floats(m, -1.5, 1.5), x = floats(m, -3, 3), y = floats((long)n * m, 0, 1);
    RUN(haversine, y, (long)n * m, (n, m, a, b, c, x, (void *)y));
  }
  CASE(waves) {
    double *t = doubles(N, 0, 20), *y = doubles(N, 0, 1);
    RUN(waves, y, N, (N, t, y));
  }
  CASE(logistic) {
    double *x = doubles(N, -20, 20), *y = doubles(N, 0, 1);
    RUN(logistic, y, N, (N, x, y));
  }
  CASE(lorenz) {
    long n = SIZE(1l << 22, 999);
    y = floats(3 * n, 0, 10);
    RUN(lorenz, y, 3 * n, (n, SIZE(200, 20), 0.0005f, y, y + n, y + 2 * n));
  }
  CASE(polar) {
    a = floats(N, -1, 1), b = floats(N, -1, 1), y = floats(2 * N, 0, 1);
    RUN(polar, y, 2 * N, (N, a, b, y, y + N));
  }
  CASE(quadratic) {
    a = floats(N, 0.5, 1), b = floats(N, 4, 9), c = floats(N, 0, 3), y = floats(2 * N, 0, 1);
    RUN(quadratic, y, 2 * N, (N, a, b, c, y));
  }
  return 0;
}
