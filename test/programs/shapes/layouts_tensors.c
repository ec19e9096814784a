// Tensors as libraries pass them: with a stride for each dimension, in blocks, as planes of channels, transposed by strides; butterflies of
// several stages.
// ARGS: 3 4 9 11
// ARGS: 1 1 1 1
// ARGS: 2 0 5 3
// ARGS: 2 3 16 33
// OFFLOAD: partial
// KERNELS: strided bias permute tiled untile transform
#include "example.h"

__attribute__((noinline)) static void strided(int n, int c, int h, int w, const double *x, long sn, long sc, long sh, long sw, double *y, long tn,
                                              long tc, long th, long tw) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < c; k++)
      for (int p = 0; p < h; p++)
        for (int q = 0; q < w; q++)
          y[i * tn + k * tc + p * th + q * tw] = x[i * sn + k * sc + p * sh + q * sw] * 0.5 + k;
}

// Strides of a permuted tensor are no multiples of each other in the order of the loops: this falls back.
__attribute__((noinline)) static void permuted(int n, int c, int h, int w, const double *x, long sn, long sc, long sh, long sw, double *y) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < c; k++)
      for (int p = 0; p < h; p++)
        for (int q = 0; q < w; q++)
          y[((i * c + k) * h + p) * w + q] = x[i * sn + k * sc + p * sh + q * sw] - 0.25 * q;
}

__attribute__((noinline)) static void bias(int n, int c, int h, int w, double *t, const double *b) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < c; k++)
      for (int p = 0; p < h * w; p++)
        t[(i * c + k) * h * w + p] += b[k];
}

// NCHW to NHWC.
__attribute__((noinline)) static void permute(int n, int c, int h, int w, const double *in, double *out) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < c; k++)
      for (int p = 0; p < h; p++)
        for (int q = 0; q < w; q++)
          out[((i * h + p) * w + q) * c + k] = in[((i * c + k) * h + p) * w + q];
}

#define B 4
// From rows to blocks of B x B.
__attribute__((noinline)) static void tiled(int nb, int mb, const double *rows, double *blocks) {
  for (int i = 0; i < nb * B; i++)
    for (int j = 0; j < mb * B; j++)
      blocks[((i / B) * mb + j / B) * B * B + (i % B) * B + j % B] = rows[i * mb * B + j];
}

__attribute__((noinline)) static void untile(int n, int m, const double *blocks, double *rows) {
  int mb = (m + B - 1) / B;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      rows[i * m + j] = 0.5 * blocks[((i / B) * mb + j / B) * B * B + (i % B) * B + j % B];
}

__attribute__((noinline)) static void transform(int n, double *re, double *im) {
  for (int half = 1; half < n; half *= 2)
    for (int i = 0; i < n; i += 2 * half)
      for (int k = 0; k < half; k++) {
        double a = re[i + k], b = re[i + k + half];
        re[i + k] = a + b;
        re[i + k + half] = a - b;
        double c = im[i + k], d = im[i + k + half];
        im[i + k] = c + d;
        im[i + k + half] = c - d;
      }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 3), c = (int)example_arg(argc, argv, 2, 4);
  int h = (int)example_arg(argc, argv, 3, 9), w = (int)example_arg(argc, argv, 4, 11);
  size_t count = (size_t)n * c * h * w, all = 2 * count + 16 * (size_t)(h + 1) * (w + 1) + 64;
  double *a = example_array(all), *b = example_array(all);
  example_fill(a, all);
  example_fill(b, all);
  strided(n, c, h, w, a, (long)c * h * w, (long)h * w, w, 1, b, (long)c * h * w, (long)h * w, w, 1);
  example_print("copied", b, all);
  permuted(n, c, h, w, a, (long)c * h * w, 1, (long)w * c, c, b);
  example_print("strided", b, all);
  bias(n, c, h, w, a, b);
  permute(n, c, h, w, a, b);
  example_print("permuted", b, all);
  tiled(h / B, w / B, a, b);
  example_print("tiled", b, all);
  untile(h, w, b, a);
  example_print("rows", a, all);
  transform(64, a, b);
  example_print("a", a, all);
  example_print("b", b, all);
  free(a);
  free(b);
  return 0;
}
