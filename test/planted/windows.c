// A filter of unknown size, of whose iterations several run side by side.
#include "planted.h"

#define C 2
#define H 40
#define W 70

static void filter(int c, int h, int w, int r, double f[2 * r + 1], double in[c][h][w], double out[c][h][w]) {
  for (int k = 0; k < c; k++)
    for (int i = r; i < h - r; i++)
      for (int j = 0; j < w; j++)
        for (int d = -r; d <= r; d++)
          out[k][i][j] += f[d + r] * in[k][i + d][j];
}

int main(void) {
  double *in = matrix(C * H * W, 1), *f = matrix(7, 2), *out = matrix(C * H * W, 3);
  filter(C, H, W, 3, f, (void *)in, (void *)out);
  show(out, C * H * W);
  return 0;
}
