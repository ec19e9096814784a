/* A convolution layer without padding: four-dimensional arrays of parametric shape.
 * out[b][o][y][x] += in[b][c][y+r][x+s] * weight[o][c][r][s]
 * conv2d [BATCH IN_CHANNELS OUT_CHANNELS HEIGHT WIDTH FILTER [SEED]] */
#include "example.h"

__attribute__((noinline)) static void convolve(int nb, int nc, int no, int h, int w, int f, TYPE in[nb][nc][h][w],
                                               TYPE weight[no][nc][f][f], TYPE out[nb][no][h - f + 1][w - f + 1]) {
  for (int b = 0; b < nb; ++b)
    for (int o = 0; o < no; ++o)
      for (int y = 0; y < h - f + 1; ++y)
        for (int x = 0; x < w - f + 1; ++x) {
          out[b][o][y][x] = 0;
          for (int c = 0; c < nc; ++c)
            for (int r = 0; r < f; ++r)
              for (int s = 0; s < f; ++s)
                out[b][o][y][x] += in[b][c][y + r][x + s] * weight[o][c][r][s];
        }
}

int main(int argc, char **argv) {
  int nb = (int)example_arg(argc, argv, 1, 2), nc = (int)example_arg(argc, argv, 2, 8);
  int no = (int)example_arg(argc, argv, 3, 16), h = (int)example_arg(argc, argv, 4, 56);
  int w = (int)example_arg(argc, argv, 5, 48), f = (int)example_arg(argc, argv, 6, 3);
  long seed = example_arg(argc, argv, 7, 1);
  int oh = h - f + 1 > 0 ? h - f + 1 : 0, ow = w - f + 1 > 0 ? w - f + 1 : 0;
  size_t in_count = (size_t)nb * nc * h * w, weights = (size_t)no * nc * f * f, out_count = (size_t)nb * no * oh * ow;
  TYPE *in = example_array(in_count), *weight = example_array(weights), *out = example_array(out_count);
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(seed);
    example_fill(in, in_count);
    example_fill(weight, weights);
    example_fill(out, out_count);
    if (out_count > 0 && in_count > 0 && weights > 0)
      convolve(nb, nc, no, h, w, f, (TYPE(*)[nc][h][w])in, (TYPE(*)[nc][f][f])weight, (TYPE(*)[no][oh][ow])out);
  }
  example_print("out", out, out_count);
  free(in);
  free(weight);
  free(out);
  return 0;
}
