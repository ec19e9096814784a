// A convolution lowered to a matrix product: one loop over channel, kernel row and kernel column, whose place in the image is computed from a number.
// ARGS: 20
// ARGS: 9
// OFFLOAD: yes
// KERNELS: lower
#include "example.h"

__attribute__((noinline)) static void lower(const float *restrict im, int ch, int h, int w, int k, int stride, int pad,
                                            float *restrict col) {
  int oh = (h + 2 * pad - k) / stride + 1, ow = (w + 2 * pad - k) / stride + 1;
  for (int c = 0; c < ch * k * k; c++) {
    int kx = c % k, ky = c / k % k, cc = c / k / k;
    for (int y = 0; y < oh; y++)
      for (int x = 0; x < ow; x++) {
        int r = ky + y * stride - pad, q = kx + x * stride - pad;
        col[(c * oh + y) * ow + x] = r < 0 || q < 0 || r >= h || q >= w ? 0 : im[q + w * (r + h * cc)];
      }
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 20);
  float *im = malloc(3 * n * n * sizeof *im), *col = calloc(27 * n * n, sizeof *col);
  for (int i = 0; i < 3 * n * n; i++)
    im[i] = i % 31;
  double s = 0;
  lower(im, 3, n, n, 3, 1, 1, col);
  for (int i = 0; i < 27 * n * n; i++)
    s = s * 0.5 + col[i];
  lower(im, 3, n, n, 3, 2, 1, col);
  for (int i = 0; i < 27 * n * n; i++)
    s = s * 0.75 + col[i];
  lower(im, 3, n, n, 1, 1, 0, col);
  for (int i = 0; i < 27 * n * n; i++)
    s = s * 0.875 + col[i];
  printf("%a\n", s);
  free(im);
  free(col);
  return 0;
}
