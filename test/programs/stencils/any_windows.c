// Filters with windows of any size, whose iterations side by side share what they load: along rows, along columns, of planes; and convolutions of several channels, where
// points lie along outputs and rows; and boxes of any height, whose rows serve all points of a thread. Fewer iterations than run side by side, one more, and none.
// ARGS: 2 40 37 3 5
// ARGS: 1 33 70 0 1
// ARGS: 3 66 65 1 9
// ARGS: 1 530 515 4 2
// ARGS: 2 9 40 5 17
// ARGS: 1 60 75 4 3
// OFFLOAD: yes
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void along_rows(int c, int h, int w, int r, const TYPE *f, TYPE in[c][h][w], TYPE out[c][h][w]) {
  for (int k = 0; k < c; k++)
    for (int y = 0; y < h; y++)
      for (int x = r; x < w - r; x++) {
        TYPE s = 0;
        for (int d = -r; d <= r; d++)
          s += f[d + r] * in[k][y][x + d];
        out[k][y][x] = s;
      }
}

KERNEL void along_columns(int h, int w, int r, const TYPE *f, TYPE in[h][w], TYPE out[h][w]) {
  for (int y = r; y < h - r; y++)
    for (int x = 0; x < w; x++) {
      TYPE s = 0;
      for (int d = -r; d <= r; d++)
        s += f[d + r] * in[y + d][x];
      out[y][x] = s;
    }
}

KERNEL void box(int h, int w, int rows, int columns, TYPE in[h][w], TYPE out[h][w]) {
  for (int y = 0; y <= h - rows; y++)
    for (int x = 0; x <= w - columns; x++) {
      TYPE s = in[y][x];
      for (int p = 0; p < rows; p++) {
        TYPE t = 0;
        for (int q = 0; q < columns; q++)
          t += in[y + p][x + q] * (TYPE)0.75 + in[y + p][x];
        s = s * (TYPE)0.5 + t;
      }
      out[y][x] = s;
    }
}

/* Rows of three, each with a weight of its own: other points have other ones. */
KERNEL void bars(int h, int w, int rows, const TYPE *f, TYPE in[h][w], TYPE out[h][w]) {
  for (int y = 0; y <= h - rows; y++)
    for (int x = 1; x < w - 1; x++) {
      TYPE s = 0;
      for (int p = 0; p < rows; p++)
        for (int q = -1; q <= 1; q++)
          s += in[y + p][x + q] * f[p];
      out[y][x] = s;
    }
}

/* Rows of a triangle end earlier and earlier. */
KERNEL void triangle(int h, int w, int r, TYPE in[h][w], TYPE out[h][w]) {
  for (int y = 0; y < h - r; y++)
    for (int x = 0; x < w - r; x++) {
      TYPE s = 0;
      for (int p = 0; p < r; p++)
        for (int q = 0; q < r - p; q++)
          s = s * (TYPE)0.875 + in[y + p][x + q];
      out[y][x] = s;
    }
}

KERNEL void convolution(int b, int k, int c, int h, int w, TYPE in[b][c][h + 2][w + 2], TYPE f[k][c][3][3], TYPE out[b][k][h][w]) {
  for (int i = 0; i < b; i++)
    for (int o = 0; o < k; o++)
      for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
          TYPE s = 0;
          for (int d = 0; d < c; d++)
            for (int p = 0; p < 3; p++)
              for (int q = 0; q < 3; q++)
                s += in[i][d][y + p][x + q] * f[o][d][p][q];
          out[i][o][y][x] = s;
        }
}

static TYPE *filled(size_t n) {
  TYPE *p = example_array(n);
  example_fill(p, n);
  return p;
}

int main(int argc, char **argv) {
  int c = (int)example_arg(argc, argv, 1, 2), h = (int)example_arg(argc, argv, 2, 40), w = (int)example_arg(argc, argv, 3, 37);
  int r = (int)example_arg(argc, argv, 4, 3), k = (int)example_arg(argc, argv, 5, 5);
  size_t n = (size_t)c * h * w, outputs = (size_t)c * k * h * w;
  TYPE *in = filled((size_t)c * c * (h + 2) * (w + 2)), *f = filled(9 * (size_t)c * k + 99);
  TYPE *rows = filled(n), *columns = filled(n), *out = filled(outputs);
  along_rows(c, h, w, r, f, (void *)in, (void *)rows);
  example_print("rows", rows, n);
  along_columns(c * h, w, r, f, (void *)in, (void *)columns);
  example_print("columns", columns, n);
  int high = 2 * r + k % 2;
  box(c * h, w, high, r + 1, (void *)in, (void *)rows);
  example_print("boxes", rows, n);
  bars(c * h, w, high, f, (void *)in, (void *)columns);
  example_print("bars", columns, n);
  triangle(c * h, w, high, (void *)in, (void *)rows);
  example_print("triangles", rows, n);
  if (h < 100)
    convolution(c, k, c, h, w, (void *)in, (void *)f, (void *)out);
  example_print("outputs", out, outputs);
  free(in), free(f), free(rows), free(columns), free(out);
  return 0;
}
