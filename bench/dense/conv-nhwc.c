/* Direct convolution, channels last: out[n,y,x,k] += in[n,y+r,x+s,c] * w[r,s,c,k].
 * conv-nhwc [N K C H W R] */
#include "conv.h"

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

static void run(int n, int k, int c, int h, int w, int r, TYPE *out, TYPE *in, TYPE *weight) {
  kernel(n, k, c, h, w, r, (void *)out, (void *)in, (void *)weight);
}
