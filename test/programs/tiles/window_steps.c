// Windows that move by a step that is an argument: convolutions, pooling. There are versions for 1 and 2; other steps run on the host, and say so.
// ARGS: 17 23
// ARGS: 3 5
// ARGS: 40 33
// OFFLOAD: partial
// FALLBACK: windows move by steps other than 1 and 2
#include "example.h"

__attribute__((noinline)) static void convolve(int h, int w, int k, int s, const double *x, const double *f, double *y) {
  int rows = (h - k) / s + 1, columns = (w - k) / s + 1;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      double sum = 0.0;
      for (int p = 0; p < k; ++p)
        for (int q = 0; q < k; ++q)
          sum += x[(i * s + p) * w + j * s + q] * f[p * k + q];
      y[i * columns + j] = sum;
    }
}

// With a border, several channels, and sizes beside the array.
struct image {
  int channels, height, width;
  float *data;
};

__attribute__((noinline)) static void pool(const struct image *x, struct image *y, int size, int step, int border) {
  const float *data = x->data;
  for (int c = 0; c < y->channels; ++c)
    for (int i = 0; i < y->height; ++i)
      for (int j = 0; j < y->width; ++j) {
        float most = -1e30f;
        for (int p = 0; p < size; ++p)
          for (int q = 0; q < size; ++q) {
            int a = i * step + p - border, b = j * step + q - border;
            if (a >= 0 && a < x->height && b >= 0 && b < x->width) {
              float v = data[(c * x->height + a) * x->width + b];
              most = v > most ? v : most;
            }
          }
        y->data[(c * y->height + i) * y->width + j] = most;
      }
}

int main(int argc, char **argv) {
  int h = (int)example_arg(argc, argv, 1, 17), w = (int)example_arg(argc, argv, 2, 23);
  double *x = example_array((size_t)h * w), *y = example_array((size_t)h * w), f[9];
  example_fill(x, (size_t)h * w);
  example_fill(f, 9);
  float *in = malloc(3 * (size_t)h * w * sizeof *in), *out = malloc(3 * (size_t)(h + 2) * (w + 2) * sizeof *out);
  for (int i = 0; i < 3 * h * w; ++i)
    in[i] = (float)(i * 37 % 101) * 0.25f - 7.0f;
  for (int step = 1; step <= 3; ++step) {
    int rows = (h - 3) / step + 1, columns = (w - 3) / step + 1;
    convolve(h, w, 3, step, x, f, y);
    example_print("convolved", y, (size_t)rows * columns);
    struct image from = {3, h, w, in}, to = {3, (h + 2 - 3) / step + 1, (w + 2 - 3) / step + 1, out};
    pool(&from, &to, 3, step, 1);
    for (int i = 0; i < to.channels * to.height * to.width; ++i)
      printf("%a\n", (double)out[i]);
  }
  return 0;
}
