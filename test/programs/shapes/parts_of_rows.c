// Rows in a few parts of a rounded quotient of their length (groups of channels, heads, quarters), as parts and as rows, in one nest: whatever the length is.
// ARGS: 3 0
// ARGS: 1 1
// ARGS: 5 7
// ARGS: 40 96
// ARGS: 33 101
// ARGS: 9 -4
// OFFLOAD: yes
// KERNELS: group_norm quarters thirds heads fourths ninths
#include <stdio.h>
#include <stdlib.h>

#define OUT_OF_LINE __attribute__((noinline)) static

// Groups of channels; behind them what the scale's gradient is made of.
OUT_OF_LINE void group_norm(double *x, const double *y, const double *z, double *w, int n, int m) {
  int size = (m < 0 ? 0 : m) / 4;
  for (int i = 0; i < n; i++)
    for (int g = 0; g < 4; g++) {
      double s = 0, t = 0;
      for (int c = 0; c < size; c++) {
        int o = i * m + g * size + c;
        s += y[o] * z[g * size + c];
        t += y[o] * x[o];
      }
      for (int c = 0; c < size; c++) {
        int o = i * m + g * size + c;
        x[o] = y[o] * z[g * size + c] - (s + x[o] * t) / size;
      }
    }
  for (int j = 0; j < m; j++) {
    double s = 0;
    for (int i = 0; i < n; i++)
      s += y[i * m + j];
    w[j] = s;
  }
}

OUT_OF_LINE void quarters(double *x, double *y, int n) {
  int part = n / 4;
  for (int b = 0; b < 4; b++)
    for (int i = 0; i < part; i++)
      x[b * part + i] = y[b * part + i] * 2 + b;
  for (int i = 0; i < n; i++)
    y[i] = x[n - 1 - i] + 1;
}

OUT_OF_LINE void thirds(float *x, const float *y, unsigned n, unsigned m) {
  unsigned part = n / 3;
  for (unsigned r = 0; r < m; r++)
    for (unsigned b = 0; b < 3; b++) {
      float s = 0;
      for (unsigned i = 0; i < part; i++)
        s += y[r * n + b * part + i];
      for (unsigned i = 0; i < n; i++)
        x[r * n + i] += s;
    }
}

// In the other order, and the rest.
OUT_OF_LINE void heads(float *x, const float *y, long n, long m) {
  long part = n / 8;
  for (long r = 0; r < m; r++)
    for (long h = 0; h < 8; h++)
      for (long i = 0; i < part; i++)
        x[r * n + h * part + i] = y[r * n + (7 - h) * part + i];
  for (long r = 0; r < m; r++)
    for (long i = 8 * part; i < n; i++)
      x[r * n + i] = 0;
}

// By signed numbers, with what the parts leave of each row.
OUT_OF_LINE void fourths(double *restrict x, const double *restrict y, const double *restrict z, int n, int m) {
  int part = m / 4;
  for (int r = 0; r < n; r++) {
    for (int b = 0; b < 4; b++)
      for (int i = 0; i < part; i++)
        x[r * m + b * part + i] = y[r * m + b * part + i] + z[i];
    for (int i = 4 * part; i < m; i++)
      x[r * m + i] = 5;
  }
}

// With all of a row behind its parts.
OUT_OF_LINE void ninths(double *restrict x, double *restrict y, const double *restrict z, int n, int m) {
  int part = m / 9;
  for (int r = 0; r < n; r++) {
    for (int b = 0; b < 9; b++)
      for (int i = 0; i < part; i++)
        x[r * m + b * part + i] = y[i] + z[i];
    for (int i = 0; i < m; i++)
      y[r * m + i] = x[r * m + i] + 1;
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 3, m = argc > 2 ? atoi(argv[2]) : 9;
  int length = m > 0 ? m : 0, all = n * length + 8;
  double *x = malloc(all * sizeof *x), *y = malloc(all * sizeof *y);
  double *z = malloc((length + 1) * sizeof *z), *w = calloc(length + 1, sizeof *w);
  float *u = malloc(all * sizeof *u), *v = malloc(all * sizeof *v);
  for (int i = 0; i < all; i++) {
    x[i] = i * 7919 % 1013 / 7.0;
    y[i] = i * 104729 % 997 / 9.0 - 40;
    u[i] = i * 31 % 61;
    v[i] = i * 17 % 53;
  }
  for (int i = 0; i < length; i++)
    z[i] = i % 11 - 5;
  group_norm(x, y, z, w, n, m);
  fourths(x, y, z, n, m);
  ninths(x, y, z, n, m);
  thirds(u, v, length, n);
  heads(v, u, length, n);
  thirds(u, v, length, n);
  quarters(x, y, length > 4 ? length : 4);
  double s = 0, t = 0;
  for (int i = 0; i < all; i++) {
    s = s * 0.999 + x[i] - y[i];
    t = t * 0.999 + u[i] - v[i];
  }
  for (int i = 0; i < length; i++)
    s += w[i] * (i + 1);
  printf("%a %a\n", s, t);
}
