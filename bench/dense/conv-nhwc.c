/* Direct convolution, channels last: out[n,y,x,k] += in[n,y+r,x+s,c] * w[r,s,c,k].
 * conv-nhwc [N K C H W R] */
#include "unseen.h"

__attribute__((noinline)) static void kernel(int n, int k, int c, int h, int w, int r, TYPE out[n][h][w][k],
                                             TYPE in[n][h + r - 1][w + r - 1][c], TYPE weight[r][r][c][k]) {
  for (int b = 0; b < n; ++b)
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        for (int o = 0; o < k; ++o)
          for (int p = 0; p < r; ++p)
            for (int q = 0; q < r; ++q)
              for (int i = 0; i < c; ++i)
                out[b][y][x][o] += in[b][y + p][x + q][i] * weight[p][q][i][o];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 2), k = (int)example_arg(argc, argv, 2, 20), c = (int)example_arg(argc, argv, 3, 10);
  int h = (int)example_arg(argc, argv, 4, 20), w = (int)example_arg(argc, argv, 5, 30), f = (int)example_arg(argc, argv, 6, 3);
  size_t outs = (size_t)n * k * h * w, ins = (size_t)n * c * (h + f - 1) * (w + f - 1);
  TYPE *out = 0;
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(1);
    free(out);
    out = dense_random(outs);
    TYPE *in = dense_random(ins), *weight = dense_random((size_t)k * c * f * f);
    if (outs && c && f) kernel(n, k, c, h, w, f, (void *)out, (void *)in, (void *)weight);
    free(in);
    free(weight);
  }
  example_print("out", out, outs);
  return 0;
}
