// Filters with windows of constant size: neighbouring points share what they load, whole tiles and those at the border of the image, with a division that may
// trap, updates of what is there, and channels.
// ARGS: 3 37 41
// ARGS: 1 0 5
// ARGS: 2 20 20
// ARGS: 2 36 36
// ARGS: 1 69 130
// ARGS: 1 520 515
// OFFLOAD: yes
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void depthwise(int c, int h, int w, TYPE in[c][h][w], TYPE f[c][5][5], TYPE out[c][h][w]) {
  for (int k = 0; k < c; k++)
    for (int y = 0; y < h - 4; y++)
      for (int x = 0; x < w - 4; x++) {
        TYPE s = 0;
        for (int r = 0; r < 5; r++)
          for (int q = 0; q < 5; q++)
            s += in[k][y + r][x + q] * f[k][r][q];
        out[k][y][x] = s;
      }
}

KERNEL void sharpen(int c, int h, int w, TYPE in[c][h][w], TYPE out[c][h][w]) {
  for (int k = 0; k < c; k++)
    for (int y = 1; y < h - 1; y++)
      for (int x = 1; x < w - 1; x++)
        out[k][y][x] += 2 * in[k][y][x] - (in[k][y - 1][x - 1] + in[k][y - 1][x] + in[k][y - 1][x + 1] + in[k][y][x - 1] + in[k][y][x + 1] +
                                           in[k][y + 1][x - 1] + in[k][y + 1][x] + in[k][y + 1][x + 1]) / 8;
}

KERNEL void columns(int h, int w, TYPE in[h][w][3], TYPE out[h][w][3], const TYPE g[7]) {
  for (int y = 3; y < h - 3; y++)
    for (int x = 0; x < w; x++)
      for (int c = 0; c < 3; c++) {
        TYPE s = 0;
        for (int d = -3; d <= 3; d++)
          s += g[d + 3] * in[y + d][x][c];
        out[y][x][c] = s;
      }
}

KERNEL void weighted(int c, int h, int w, unsigned char in[c][h][w], const int by[9], unsigned char out[c][h][w]) {
  for (int k = 0; k < c; k++)
    for (int y = 1; y < h - 1; y++)
      for (int x = 1; x < w - 1; x++) {
        int s = 0;
        for (int p = 0; p < 3; p++)
          for (int q = 0; q < 3; q++)
            s += in[k][y + p - 1][x + q - 1] / by[3 * p + q];
        out[k][y][x] = s;
      }
}

int main(int argc, char **argv) {
  int c = (int)example_arg(argc, argv, 1, 3), h = (int)example_arg(argc, argv, 2, 37), w = (int)example_arg(argc, argv, 3, 41);
  size_t n = (size_t)c * h * w, rgb = (size_t)h * w * 3;
  TYPE *in = example_array(n), *out = example_array(n), *f = example_array((size_t)c * 25), *image = example_array(rgb), *smooth = example_array(rgb);
  unsigned char *bytes = malloc(n + 1), *result = calloc(n + 1, 1);
  int by[9] = {1, 2, 3, 5, 7, 4, 9, 6, 8};
  example_fill(in, n);
  example_fill(f, (size_t)c * 25);
  example_fill(image, rgb);
  for (size_t i = 0; i < n; i++)
    bytes[i] = (unsigned char)(i * 2654435761u >> 13);
  depthwise(c, h, w, (void *)in, (void *)f, (void *)out);
  example_print("depthwise", out, n);
  sharpen(c, h, w, (void *)in, (void *)out);
  example_print("sharpen", out, n);
  columns(h, w, (void *)image, (void *)smooth, f);
  example_print("columns", smooth, rgb);
  weighted(c, h, w, (void *)bytes, by, (void *)result);
  unsigned long long hash = 0;
  for (size_t i = 0; i < n; i++)
    hash = hash * 31 + result[i];
  printf("weighted %llx\n", hash);
  free(in);
  free(out);
  free(f);
  free(image);
  free(smooth);
  free(bytes);
  free(result);
  return 0;
}
