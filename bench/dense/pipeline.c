/* An image pipeline: 3 x 3 Gauss, Sobel, threshold.
 * pipeline [H W] */
#include "unseen.h"

__attribute__((noinline)) static void kernel(int h, int w, TYPE out[h][w], TYPE edge[h][w], TYPE blur[h][w], TYPE in[h][w]) {
  for (int i = 1; i < h - 1; ++i)
    for (int j = 1; j < w - 1; ++j)
      blur[i][j] = (in[i - 1][j - 1] + 2 * in[i - 1][j] + in[i - 1][j + 1] + 2 * in[i][j - 1] + 4 * in[i][j] + 2 * in[i][j + 1] +
                    in[i + 1][j - 1] + 2 * in[i + 1][j] + in[i + 1][j + 1]) *
                   (TYPE)0.0625;
  for (int i = 2; i < h - 2; ++i)
    for (int j = 2; j < w - 2; ++j) {
      TYPE x = blur[i - 1][j + 1] - blur[i - 1][j - 1] + 2 * (blur[i][j + 1] - blur[i][j - 1]) + blur[i + 1][j + 1] - blur[i + 1][j - 1];
      TYPE y = blur[i + 1][j - 1] - blur[i - 1][j - 1] + 2 * (blur[i + 1][j] - blur[i - 1][j]) + blur[i + 1][j + 1] - blur[i - 1][j + 1];
      edge[i][j] = x * x + y * y;
    }
  for (int i = 2; i < h - 2; ++i)
    for (int j = 2; j < w - 2; ++j)
      out[i][j] = edge[i][j] > (TYPE)0.25 ? edge[i][j] : 0;
}

int main(int argc, char **argv) {
  int h = (int)example_arg(argc, argv, 1, 60), w = (int)example_arg(argc, argv, 2, 90);
  size_t count = (size_t)h * w;
  TYPE *out = 0;
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(1);
    free(out);
    out = dense_random(count);
    TYPE *edge = dense_random(count), *blur = dense_random(count), *in = dense_random(count);
    if (count) kernel(h, w, (void *)out, (void *)edge, (void *)blur, (void *)in);
    free(edge);
    free(blur);
    free(in);
  }
  example_print("out", out, count);
  return 0;
}
