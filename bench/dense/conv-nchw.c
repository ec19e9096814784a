/* Direct convolution, channels first: out[n,k,y,x] += in[n,c,y+r,x+s] * w[k,c,r,s].
 * conv-nchw [N K C H W R] */
#include "conv.h"

__attribute__((noinline)) static void kernel(int n, int k, int c, int h, int w, int r, TYPE out[n][k][h][w],
                                             TYPE in[n][c][h + r - 1][w + r - 1], TYPE weight[k][c][r][r]) {
  for (int b = 0; b < n; ++b)
    for (int o = 0; o < k; ++o)
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x)
          for (int i = 0; i < c; ++i)
            for (int p = 0; p < r; ++p)
              for (int q = 0; q < r; ++q)
                out[b][o][y][x] += in[b][i][y + p][x + q] * weight[o][i][p][q];
}

static void run(int n, int k, int c, int h, int w, int r, TYPE *out, TYPE *in, TYPE *weight) {
  kernel(n, k, c, h, w, r, (void *)out, (void *)in, (void *)weight);
}
