// Signals as programs lay them out: interleaved complex numbers, butterflies of a Fourier transform in place and from one array to another,
// frames with a gap.
// ARGS: 16 9
// ARGS: 1 1
// ARGS: 5 33
// OFFLOAD: yes
// KERNELS: rotate butterflies stockham frames
#include "example.h"

__attribute__((noinline)) static void rotate(int n, int m, double *z, double a, double b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double re = z[2 * (i * m + j)], im = z[2 * (i * m + j) + 1];
      z[2 * (i * m + j)] = a * re - b * im;
      z[2 * (i * m + j) + 1] = a * im + b * re;
    }
}

__attribute__((noinline)) static void butterflies(int groups, int half, const double *w, double *re, double *im) {
  for (int g = 0; g < groups; g++)
    for (int k = 0; k < half; k++) {
      int a = g * 2 * half + k, b = a + half;
      double x = w[2 * k] * re[b] - w[2 * k + 1] * im[b], y = w[2 * k] * im[b] + w[2 * k + 1] * re[b];
      re[b] = re[a] - x;
      im[b] = im[a] - y;
      re[a] += x;
      im[a] += y;
    }
}

__attribute__((noinline)) static void stockham(int l, int m, const double *x, double *y) {
  for (int j = 0; j < l; j++)
    for (int k = 0; k < m; k++) {
      double a = x[k + j * m], b = x[k + j * m + l * m];
      y[k + 2 * j * m] = a + b;
      y[k + 2 * j * m + m] = a - b;
    }
}

__attribute__((noinline)) static void frames(int n, int length, int hop, const double *signal, const double *window, double *out) {
  for (int f = 0; f < n; f++)
    for (int t = 0; t < length; t++)
      out[f * length + t] = signal[f * hop + t] * window[t];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 16), m = (int)example_arg(argc, argv, 2, 9);
  size_t count = 2 * (size_t)n * m;
  double *x = example_array(count), *y = example_array(count), *w = example_array(2 * (size_t)m);
  example_fill(x, count);
  example_fill(y, count);
  example_fill(w, 2 * (size_t)m);
  rotate(n, m, x, 0.8, 0.6);
  butterflies(n, m, w, x, y);
  example_print("x", x, count);
  stockham(n, m, x, y);
  example_print("y", y, count);
  frames(n, m, m + 1, y, w, x);
  example_print("frames", x, count);
  free(x);
  free(y);
  free(w);
  return 0;
}
