// Pooling over windows: sizes that are quotients, computed between the loops, and neighbouring threads two elements apart.
//
// ARGS: 0 3 8 9
// ARGS: 1 1 2 2
// ARGS: 2 3 18 22
// ARGS: 3 2 33 67
// OFFLOAD: yes
#include "example.h"

#define AT(n, c, h, w, C, H, W) ((((size_t)(n) * (C) + (c)) * (H) + (h)) * (W) + (w))

__attribute__((noinline)) static void largest(const TYPE *x, TYPE *y, int N, int C, int H, int W) {
  for (int n = 0; n < N; n++)
    for (int c = 0; c < C; c++)
      for (int p = 0; p < H / 2; p++)
        for (int q = 0; q < W / 2; q++) {
          TYPE m = (TYPE)-1e30;
          for (int r = 0; r < 2; r++)
            for (int s = 0; s < 2; s++) {
              TYPE v = x[AT(n, c, 2 * p + r, 2 * q + s, C, H, W)];
              if (v > m)
                m = v;
            }
          y[AT(n, c, p, q, C, H / 2, W / 2)] = m;
        }
}

__attribute__((noinline)) static void mean(const TYPE *x, TYPE *y, int N, int C, int H, int W) {
  for (int n = 0; n < N; n++)
    for (int c = 0; c < C; c++)
      for (int p = 0; p < H / 2; p++)
        for (int q = 0; q < W / 2; q++)
          y[AT(n, c, p, q, C, H / 2, W / 2)] =
              (TYPE)0.25 * (x[AT(n, c, 2 * p, 2 * q, C, H, W)] + x[AT(n, c, 2 * p, 2 * q + 1, C, H, W)] +
                            x[AT(n, c, 2 * p + 1, 2 * q, C, H, W)] + x[AT(n, c, 2 * p + 1, 2 * q + 1, C, H, W)]);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 2), c = (int)example_arg(argc, argv, 2, 3);
  int h = (int)example_arg(argc, argv, 3, 18), w = (int)example_arg(argc, argv, 4, 22);
  size_t in = (size_t)n * c * h * w, out = (size_t)n * c * (h / 2) * (w / 2);
  TYPE *x = example_array(in), *y = example_array(out), *z = example_array(out);
  example_fill(x, in);
  largest(x, y, n, c, h, w);
  mean(x, z, n, c, h, w);
  example_print("y", y, out);
  example_print("z", z, out);
  return 0;
}
