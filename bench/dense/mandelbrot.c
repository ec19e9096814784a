/* A fixed number of iterations of z = z z + c at every point; points that leave stay where they are.
 * mandelbrot [H W ITERATIONS] */
#include "unseen.h"

__attribute__((noinline)) static void kernel(int h, int w, int steps, TYPE out[h][w]) {
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j) {
      TYPE cr = (TYPE)j * 3 / w - 2, ci = (TYPE)i * 2 / h - 1, zr = 0, zi = 0;
      for (int s = 0; s < steps; ++s) {
        TYPE r2 = zr * zr, i2 = zi * zi;
        TYPE nr = r2 - i2 + cr, ni = 2 * zr * zi + ci;
        int inside = r2 + i2 < 4;
        zr = inside ? nr : zr;
        zi = inside ? ni : zi;
      }
      out[i][j] = zr + zi;
    }
}

int main(int argc, char **argv) {
  int h = (int)example_arg(argc, argv, 1, 60), w = (int)example_arg(argc, argv, 2, 90), s = (int)example_arg(argc, argv, 3, 30);
  TYPE *out = example_array((size_t)h * w);
  for (long r = example_repeat(); r > 0; --r)
    if (h && w) kernel(h, w, s, (void *)out);
  example_print("out", out, (size_t)h * w);
  return 0;
}
