// Images as programs lay them out: padded borders, planes and channels, a pitch, a window, polyphase samples.
// ARGS: 13 18 2
// ARGS: 1 1 1
// ARGS: 0 5 3
// ARGS: 31 65 4
// OFFLOAD: yes
// KERNELS: pad channels window halve grey
#include "example.h"

__attribute__((noinline)) static void pad(int h, int w, int p, const double *in, double *out) {
  int wide = w + 2 * p;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      out[(y + p) * wide + x + p] = in[y * w + x] * 0.5;
}

// From interleaved channels of a pitch to planes.
__attribute__((noinline)) static void channels(int n, int h, int w, int pitch, const double *in, double *out) {
  for (int c = 0; c < n; c++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        out[(c * h + y) * w + x] = in[y * pitch + x * n + c] - 0.25;
}

// A window of another image, in place.
__attribute__((noinline)) static void window(int h, int w, int y0, int x0, int stride, double *image) {
  double *at = image + (size_t)y0 * stride + x0;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      at[y * stride + x] = 1.0 - at[y * stride + x];
}

__attribute__((noinline)) static void halve(int h, int w, const double *in, double *out) {
  int half = w / 2;
  for (int y = 0; y < h / 2; y++)
    for (int x = 0; x < half; x++)
      out[y * half + x] =
          0.25 * (in[2 * y * w + 2 * x] + in[2 * y * w + 2 * x + 1] + in[(2 * y + 1) * w + 2 * x] + in[(2 * y + 1) * w + 2 * x + 1]);
}

#define PIXEL(image, y, x, c) image[((y) * w + (x)) * 4 + (c)]
__attribute__((noinline)) static void grey(int h, int w, double *rgba) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      double v = 0.3 * PIXEL(rgba, y, x, 0) + 0.6 * PIXEL(rgba, y, x, 1) + 0.1 * PIXEL(rgba, y, x, 2);
      PIXEL(rgba, y, x, 0) = PIXEL(rgba, y, x, 1) = PIXEL(rgba, y, x, 2) = v;
    }
}

int main(int argc, char **argv) {
  int h = (int)example_arg(argc, argv, 1, 13), w = (int)example_arg(argc, argv, 2, 18), p = (int)example_arg(argc, argv, 3, 2);
  int tall = h + 2 * p, wide = w + 2 * p, pitch = 3 * (w + 2);
  size_t small = (size_t)h * w, large = (size_t)tall * wide, pitched = (size_t)h * pitch;
  double *in = example_array(4 * small), *out = example_array(large), *rows = example_array(pitched), *planes = example_array(3 * small);
  example_fill(in, 4 * small);
  example_fill(out, large);
  example_fill(rows, pitched);
  example_fill(planes, 3 * small);
  pad(h, w, p, in, out);
  channels(3, h, w, pitch, rows, planes);
  window(h, w, p, p, wide, out);
  example_print("padded", out, large);
  halve(h, w, in, out);
  grey(h, w, in);
  example_print("halved", out, large);
  example_print("planes", planes, 3 * small);
  example_print("grey", in, 4 * small);
  free(in);
  free(out);
  free(rows);
  free(planes);
  return 0;
}
