// Images whose number of channels is an argument: few and many, both kinds of blocks, and a value that crosses statements.
// ARGS: 20 37 3
// ARGS: 9 70 4
// ARGS: 9 17 5
// ARGS: 3 5 41
// ARGS: 33 40 1
// ARGS: 7 0 3
// ARGS: 7 5 0
// OFFLOAD: yes
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void upscale(int h, int w, int c, TYPE in[h][w][c], TYPE out[2 * h][2 * w][c]) {
  for (int y = 0; y < h - 1; y++)
    for (int x = 0; x < w - 1; x++)
      for (int k = 0; k < c; k++) {
        TYPE a = in[y][x][k], b = in[y][x + 1][k], d = in[y + 1][x][k], e = in[y + 1][x + 1][k];
        out[2 * y][2 * x][k] = a;
        out[2 * y][2 * x + 1][k] = (a + b) / 2;
        out[2 * y + 1][2 * x][k] = (a + d) / 2;
        out[2 * y + 1][2 * x + 1][k] = (a + b + d + e) / 4;
      }
}

KERNEL void shrink(int h, int w, int c, int n, TYPE in[h * n][w * n][c], TYPE out[h][w][c]) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      for (int k = 0; k < c; k++) {
        TYPE s = 0;
        for (int p = 0; p < 2; p++)
          for (int q = 0; q < 2; q++)
            s += in[y + p][x + q][k];
        out[y][x][k] = s / n;
      }
}

int main(int argc, char **argv) {
  int h = (int)example_arg(argc, argv, 1, 20), w = (int)example_arg(argc, argv, 2, 37), c = (int)example_arg(argc, argv, 3, 3);
  size_t n = (size_t)h * w * c;
  TYPE *in = example_array(n), *out = example_array(4 * n), *small = example_array(n);
  example_fill(in, n);
  upscale(h, w, c, (void *)in, (void *)out);
  example_print("upscale", out, 4 * n);
  if (c > 0)
    shrink(h, w, c, 2, (void *)out, (void *)small);
  example_print("shrink", small, n);
  free(in);
  free(out);
  free(small);
  return 0;
}
