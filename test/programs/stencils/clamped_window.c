// A window around each pixel whose rows and columns stop at the border, of a size that is an argument: both ends are cut off by comparisons.
// ARGS: 40 30 2
// ARGS: 1 1 3
// ARGS: 7 33 9
// OFFLOAD: yes
// KERNELS: blur columns
#include "example.h"

__attribute__((noinline)) static void blur(const float *src, float *dst, int w, int h, const float *k, int r) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      float s = 0;
      for (int j = -r; j <= r; j++)
        for (int i = -r; i <= r; i++) {
          int yy = y + j, xx = x + i;
          if (yy < 0)
            yy = 0;
          if (yy >= h)
            yy = h - 1;
          if (xx < 0)
            xx = 0;
          if (xx >= w)
            xx = w - 1;
          s += k[(j + r) * (2 * r + 1) + i + r] * src[yy * w + xx];
        }
      dst[y * w + x] = s;
    }
}

__attribute__((noinline)) static void columns(int n, int r, const double *from, double *to) {
  for (int x = 0; x < n; x++) {
    double s = 0;
    for (int i = -r; i <= r; i++) {
      int at = x + i;
      if (at < 0)
        at = 0;
      if (at >= n)
        at = n - 1;
      s += from[at];
    }
    to[x] = s;
  }
}

int main(int argc, char **argv) {
  int w = (int)example_arg(argc, argv, 1, 40), h = (int)example_arg(argc, argv, 2, 30), r = (int)example_arg(argc, argv, 3, 2);
  int side = 2 * r + 1, all = w * h;
  float *src = malloc((size_t)all * sizeof *src), *dst = malloc((size_t)all * sizeof *dst), *k = malloc((size_t)(side * side) * sizeof *k);
  double *from = example_array((size_t)all), *to = example_array((size_t)all);
  example_fill(from, (size_t)all);
  for (int i = 0; i < all; ++i)
    src[i] = (float)example_uniform();
  for (int i = 0; i < side * side; ++i)
    k[i] = (float)example_uniform();
  blur(src, dst, w, h, k, r);
  printf("blur %016llx\n", (unsigned long long)example_hash(dst, (size_t)all * sizeof *dst));
  columns(all, r, from, to);
  example_print("columns", to, (size_t)all);
  free(src);
  free(dst);
  free(k);
  free(from);
  free(to);
  return 0;
}
