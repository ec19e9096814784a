// Convolutions with padding and step as arguments, whose windows are cut off at the border: each way in which that is written, and accumulators that go
// through several joins of ways in an iteration.
// ARGS: 17 23
// ARGS: 3 5
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void plane(int h, int w, int oh, int ow, int k, int step, int pad, const float *restrict in,
                                            const float *restrict f, float *restrict out) {
  for (int oy = 0; oy < oh; oy++)
    for (int ox = 0; ox < ow; ox++) {
      float sum = 0;
      for (int ky = 0; ky < k; ky++)
        for (int kx = 0; kx < k; kx++) {
          int iy = oy * step + ky - pad, ix = ox * step + kx - pad;
          if (iy < 0 || iy >= h || ix < 0 || ix >= w)
            continue;
          sum += in[iy * w + ix] * f[ky * k + kx];
        }
      out[oy * ow + ox] = sum;
    }
}

__attribute__((noinline)) static void channels(int c, int n, int h, int w, int oh, int ow, int k, int step, int pad, const float *restrict in,
                                               const float *restrict weights, float *restrict out) {
  for (int f = 0; f < n; f++)
    for (int oy = 0; oy < oh; oy++)
      for (int ox = 0; ox < ow; ox++) {
        float sum = 0;
        for (int i = 0; i < c; i++)
          for (int ky = 0; ky < k; ky++) {
            int iy = oy * step + ky - pad;
            if (iy < 0 || iy >= h)
              continue;
            for (int kx = 0; kx < k; kx++) {
              int ix = ox * step + kx - pad;
              if (ix < 0 || ix >= w)
                continue;
              sum += in[(i * h + iy) * w + ix] * weights[((f * c + i) * k + ky) * k + kx];
            }
          }
        out[(f * oh + oy) * ow + ox] = sum;
      }
}

// The value of an accumulator in between, two that change places, and one that an outer loop carries on.
__attribute__((noinline)) static double in_between(int n, int m, const double *restrict a, double *restrict seen, double *restrict last) {
  double s = 1.0, t = 0.25;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
      if (j == i)
        continue;
      double v = a[i * m + j];
      if (j < i) {
        double u = s;
        s = t + v;
        t = u * 0.5;
      } else if (j > i + 2) {
        s += v;
      }
      seen[i * m + j] = s - t;
    }
    last[i] = s;
    if (i % 3 == 1)
      s = t;
  }
  return s + t;
}

int main(int argc, char **argv) {
  int h = (int)example_arg(argc, argv, 1, 17), w = (int)example_arg(argc, argv, 2, 23);
  float *in = malloc(3 * (size_t)h * w * sizeof *in), *out = malloc(4 * (size_t)(h + 8) * (w + 8) * sizeof *out), f[4 * 3 * 25];
  for (int i = 0; i < 3 * h * w; ++i)
    in[i] = (float)(i * 37 % 101) * 0.25f - 7.0f;
  for (int i = 0; i < 4 * 3 * 25; ++i)
    f[i] = (float)(i * 13 % 17) * 0.5f - 3.0f;
  for (int step = 1; step <= 3; ++step)
    for (int pad = 0; pad <= 2; ++pad)
      for (int k = 1; k <= 5; k += 2) {
        int oh = (h + 2 * pad - k) / step + 1, ow = (w + 2 * pad - k) / step + 1;
        if (h + 2 * pad < k || w + 2 * pad < k)
          continue;
        plane(h, w, oh, ow, k, step, pad, in, f, out);
        double all = 0.0;
        for (int i = 0; i < oh * ow; ++i)
          all = all * 0.75 + out[i];
        channels(3, 4, h, w, oh, ow, k, step, pad, in, f, out);
        for (int i = 0; i < 4 * oh * ow; ++i)
          all = all * 0.75 + out[i];
        printf("%d %d %d %a\n", step, pad, k, all);
      }
  double *a = example_array((size_t)h * w), *seen = example_array((size_t)h * w), *last = example_array((size_t)h);
  example_fill(a, (size_t)h * w);
  example_fill(seen, (size_t)h * w);
  printf("%a\n", in_between(h, w, a, seen, last));
  example_print("seen", seen, (size_t)h * w);
  example_print("last", last, (size_t)h);
  return 0;
}
