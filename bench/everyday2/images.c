/* Images: filters, colours, sizes. */
#include "everyday2.h"

typedef unsigned char byte;

KERNEL separable(int n, int m, int r, const float *w, const float x[n][m], float t[n][m], float y[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = r; j < m - r; j++) {
      float sum = 0;
      for (int k = -r; k <= r; k++)
        sum += w[k + r] * x[i][j + k];
      t[i][j] = sum;
    }
  for (int i = r; i < n - r; i++)
    for (int j = r; j < m - r; j++) {
      float sum = 0;
      for (int k = -r; k <= r; k++)
        sum += w[k + r] * t[i + k][j];
      y[i][j] = sum;
    }
}

KERNEL gauss(int n, int m, const float x[n][m], float t[n][m], float y[n][m]) {
  const float w[7] = {0.03f, 0.11f, 0.22f, 0.28f, 0.22f, 0.11f, 0.03f};
  for (int i = 0; i < n; i++)
    for (int j = 3; j < m - 3; j++) {
      float sum = 0;
      for (int k = 0; k < 7; k++)
        sum += w[k] * x[i][j + k - 3];
      t[i][j] = sum;
    }
  for (int i = 3; i < n - 3; i++)
    for (int j = 3; j < m - 3; j++) {
      float sum = 0;
      for (int k = 0; k < 7; k++)
        sum += w[k] * t[i + k - 3][j];
      y[i][j] = sum;
    }
}

KERNEL correlate(int n, int m, const float w[5][5], const float x[n][m], float y[n][m]) {
  for (int i = 2; i < n - 2; i++)
    for (int j = 2; j < m - 2; j++) {
      float sum = 0;
      for (int p = 0; p < 5; p++)
        for (int q = 0; q < 5; q++)
          sum += w[p][q] * x[i + p - 2][j + q - 2];
      y[i][j] = sum;
    }
}

KERNEL box(int n, int m, int r, const float x[n][m], float y[n][m]) {
  for (int i = r; i < n - r; i++)
    for (int j = r; j < m - r; j++) {
      float sum = 0;
      for (int p = -r; p <= r; p++)
        for (int q = -r; q <= r; q++)
          sum += x[i + p][j + q];
      y[i][j] = sum / ((2 * r + 1) * (2 * r + 1));
    }
}

#define ORDER(a, b)                                                                                                                        \
  {                                                                                                                                        \
    float low = a < b ? a : b, high = a < b ? b : a;                                                                                       \
    a = low, b = high;                                                                                                                     \
  }

KERNEL median(int n, int m, const float x[n][m], float y[n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      float v[9];
      for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
          v[p * 3 + q] = x[i + p - 1][j + q - 1];
      ORDER(v[1], v[2]) ORDER(v[4], v[5]) ORDER(v[7], v[8]) ORDER(v[0], v[1]) ORDER(v[3], v[4]) ORDER(v[6], v[7]) ORDER(v[1], v[2])
      ORDER(v[4], v[5]) ORDER(v[7], v[8]) ORDER(v[0], v[3]) ORDER(v[5], v[8]) ORDER(v[4], v[7]) ORDER(v[3], v[6]) ORDER(v[1], v[4])
      ORDER(v[2], v[5]) ORDER(v[4], v[7]) ORDER(v[4], v[2]) ORDER(v[6], v[4]) ORDER(v[4], v[2])
      y[i][j] = v[4];
    }
}

KERNEL bilateral(int n, int m, const float x[n][m], float y[n][m]) {
  for (int i = 4; i < n - 4; i++)
    for (int j = 4; j < m - 4; j++) {
      float sum = 0, weights = 0;
      for (int p = -4; p <= 4; p++)
        for (int q = -4; q <= 4; q++) {
          float d = x[i + p][j + q] - x[i][j];
          float w = expf(-0.02f * (p * p + q * q) - 8 * d * d);
          sum += w * x[i + p][j + q];
          weights += w;
        }
      y[i][j] = sum / weights;
    }
}

KERNEL sobel(int n, int m, const byte x[n][m], byte y[n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      int h = x[i - 1][j + 1] + 2 * x[i][j + 1] + x[i + 1][j + 1] - x[i - 1][j - 1] - 2 * x[i][j - 1] - x[i + 1][j - 1];
      int v = x[i + 1][j - 1] + 2 * x[i + 1][j] + x[i + 1][j + 1] - x[i - 1][j - 1] - 2 * x[i - 1][j] - x[i - 1][j + 1];
      int g = abs(h) + abs(v);
      y[i][j] = g > 255 ? 255 : g;
    }
}

KERNEL dilate(int n, int m, const byte x[n][m], byte y[n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      byte v = 0;
      for (int p = -1; p <= 1; p++)
        for (int q = -1; q <= 1; q++)
          if (x[i + p][j + q] > v)
            v = x[i + p][j + q];
      y[i][j] = v;
    }
}

KERNEL histogram(long n, const byte *x, int *count) {
  for (int i = 0; i < 256; i++)
    count[i] = 0;
  for (long i = 0; i < n; i++)
    count[x[i]]++;
}

KERNEL grey(long n, const byte *rgb, byte *y) {
  for (long i = 0; i < n; i++)
    y[i] = (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8;
}

KERNEL yuv(long n, const float *r, const float *g, const float *b, float *out) {
  for (long i = 0; i < n; i++) {
    float y = 0.299f * r[i] + 0.587f * g[i] + 0.114f * b[i];
    out[i] = y;
    out[n + i] = 0.492f * (b[i] - y);
    out[2 * n + i] = 0.877f * (r[i] - y);
  }
}

KERNEL yuv_pixels(long n, const byte rgb[n][3], byte out[n][3]) {
  for (long i = 0; i < n; i++) {
    int r = rgb[i][0], g = rgb[i][1], b = rgb[i][2];
    out[i][0] = (66 * r + 129 * g + 25 * b + 4224) >> 8;
    out[i][1] = (-38 * r - 74 * g + 112 * b + 32896) >> 8;
    out[i][2] = (112 * r - 94 * g - 18 * b + 32896) >> 8;
  }
}

KERNEL blend(long n, const byte top[n][4], const byte below[n][4], byte out[n][4]) {
  for (long i = 0; i < n; i++) {
    int a = top[i][3];
    for (int c = 0; c < 3; c++)
      out[i][c] = (top[i][c] * a + below[i][c] * (255 - a)) / 255;
    out[i][3] = 255;
  }
}

KERNEL gamma_table(long n, const byte *table, const byte *x, byte *y) {
  for (long i = 0; i < n; i++)
    y[i] = table[x[i]];
}

KERNEL enlarge(int n, int m, const float x[n][m], float y[2 * n][2 * m]) {
  for (int i = 0; i < 2 * n - 2; i++)
    for (int j = 0; j < 2 * m - 2; j++) {
      int p = i / 2, q = j / 2;
      float a = 0.5f * (i % 2), b = 0.5f * (j % 2);
      y[i][j] = (1 - a) * ((1 - b) * x[p][q] + b * x[p][q + 1]) + a * ((1 - b) * x[p + 1][q] + b * x[p + 1][q + 1]);
    }
}

KERNEL resize(int n, int m, int h, int w, const float x[n][m], float y[h][w]) {
  float fy = (float)(n - 1) / h, fx = (float)(m - 1) / w;
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      int p = (int)(i * fy), q = (int)(j * fx);
      float a = i * fy - p, b = j * fx - q;
      y[i][j] = (1 - a) * ((1 - b) * x[p][q] + b * x[p][q + 1]) + a * ((1 - b) * x[p + 1][q] + b * x[p + 1][q + 1]);
    }
}

KERNEL halve(int n, int m, const float x[2 * n][2 * m], float y[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i][j] = 0.25f * (x[2 * i][2 * j] + x[2 * i][2 * j + 1] + x[2 * i + 1][2 * j] + x[2 * i + 1][2 * j + 1]);
}

KERNEL rotate(int n, int m, const float x[n][m], float y[m][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[j][n - 1 - i] = x[i][j];
}

KERNEL sharpen(int n, int m, const float x[n][m], float t[n][m], float y[n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      t[i][j] = (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1] + 4 * x[i][j]) * 0.125f;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      float v = x[i][j] + 1.5f * (x[i][j] - t[i][j]);
      y[i][j] = v < 0 ? 0 : v > 1 ? 1 : v;
    }
}

KERNEL mandelbrot(int n, int m, int limit, int y[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float cr = -2 + 3.0f * j / m, ci = -1.5f + 3.0f * i / n, r = 0, s = 0;
      int k = 0;
      while (k < limit && r * r + s * s < 4) {
        float next = r * r - s * s + cr;
        s = 2 * r * s + ci;
        r = next;
        k++;
      }
      y[i][j] = k;
    }
}

KERNEL life(int n, int m, const byte x[n][m], byte y[n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      int around = x[i - 1][j - 1] + x[i - 1][j] + x[i - 1][j + 1] + x[i][j - 1] + x[i][j + 1] + x[i + 1][j - 1] + x[i + 1][j] + x[i + 1][j + 1];
      y[i][j] = around == 3 || (around == 2 && x[i][j]);
    }
}

HOST int main(int argc, char **argv) {
  begin(argc, argv);
  int n = SIZE(4096, 67), m = SIZE(4096, 75), big = SIZE(8192, 69);
  long nm = (long)n * m, bb = (long)big * big, N = SIZE(1l << 26, 10007);
  float *x, *y, *t, *w;
  byte *u, *v, *o;
#define FILTER(name, rows, columns, call)                                                                                                  \
  CASE(name) {                                                                                                                             \
    const int rows_ = rows, columns_ = columns;                                                                                            \
    int n = rows_, m = columns_;                                                                                                           \
    x = floats((long)n * m, 0, 1), t = floats((long)n * m, 0, 1), y = floats((long)n * m, 0, 1), w = floats(64, 0, 0.1);                   \
    RUN(name, y, (long)n * m, call);                                                                                                       \
  }
  FILTER(separable, big, big, (n, m, 8, w, (void *)x, (void *)t, (void *)y))
  FILTER(gauss, big, big, (n, m, (void *)x, (void *)t, (void *)y))
  FILTER(correlate, big, big, (n, m, (void *)w, (void *)x, (void *)y))
  FILTER(box, n, m, (n, m, 5, (void *)x, (void *)y))
  FILTER(median, big, big, (n, m, (void *)x, (void *)y))
  FILTER(bilateral, n, m, (n, m, (void *)x, (void *)y))
  FILTER(sharpen, big, big, (n, m, (void *)x, (void *)t, (void *)y))
  FILTER(rotate, big, m + 9, (n, m, (void *)x, (void *)y))
#define BYTES(name, limit, call)                                                                                                           \
  CASE(name) {                                                                                                                             \
    int n = big, m = big;                                                                                                                  \
    u = bytes(bb, limit), v = bytes(bb, limit);                                                                                            \
    RUN(name, v, bb, call);                                                                                                                \
  }
  BYTES(sobel, 256, (n, m, (void *)u, (void *)v))
  BYTES(dilate, 256, (n, m, (void *)u, (void *)v))
  BYTES(life, 2, (n, m, (void *)u, (void *)v))
  CASE(histogram) {
    u = bytes(4 * N, 256);
    int *count = ints(256, 9);
    RUN(histogram, count, 256, (4 * N, u, count));
  }
  CASE(grey) {
    u = bytes(3 * N, 256), v = bytes(N, 256);
    RUN(grey, v, N, (N, u, v));
  }
  CASE(yuv) {
    x = floats(N, 0, 1), t = floats(N, 0, 1), w = floats(N, 0, 1), y = floats(3 * N, 0, 1);
    RUN(yuv, y, 3 * N, (N, x, t, w, y));
  }
  CASE(yuv_pixels) {
    u = bytes(3 * N, 256), v = bytes(3 * N, 256);
    RUN(yuv_pixels, v, 3 * N, (N, (void *)u, (void *)v));
  }
  CASE(blend) {
    u = bytes(4 * N, 256), v = bytes(4 * N, 256), o = bytes(4 * N, 256);
    RUN(blend, o, 4 * N, (N, (void *)u, (void *)v, (void *)o));
  }
  CASE(gamma_table) {
    t = 0, o = bytes(256, 256), u = bytes(4 * N, 256), v = bytes(4 * N, 256);
    RUN(gamma_table, v, 4 * N, (4 * N, o, u, v));
  }
  CASE(enlarge) {
    x = floats(nm, 0, 1), y = floats(4 * nm, 0, 1);
    RUN(enlarge, y, 4 * nm, (n, m, (void *)x, (void *)y));
  }
  CASE(resize) {
    int h = SIZE(6000, 55), w = SIZE(5000, 99);
    x = floats(nm, 0, 1), y = floats((long)h * w, 0, 1);
    RUN(resize, y, (long)h * w, (n, m, h, w, (void *)x, (void *)y));
  }
  CASE(halve) {
    x = floats(4 * nm, 0, 1), y = floats(nm, 0, 1);
    RUN(halve, y, nm, (n, m, (void *)x, (void *)y));
  }
  CASE(mandelbrot) {
    int *k = ints(nm, 9);
    RUN(mandelbrot, k, nm, (n, m, SIZE(256, 30), (void *)k));
  }
  return 0;
}
