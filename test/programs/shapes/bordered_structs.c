// Arrays and sizes in structures that are looked at under conditions of loop counters only: borders of images, of volumes; and structures that are not
// there where no condition holds.
// ARGS: 17 23
// ARGS: 1 1
// ARGS: 40 33
// OFFLOAD: yes
// KERNELS: convolve shift
#include "example.h"

struct image {
  int channels, height, width;
  float *data;
};

#define AT(t, c, y, x) (t)->data[((c) * (t)->height + (y)) * (t)->width + (x)]

__attribute__((noinline)) void convolve(const struct image *x, const struct image *k, struct image *y) {
  int border = k->height / 2;
  for (int c = 0; c < y->channels; ++c)
    for (int i = 0; i < y->height; ++i)
      for (int j = 0; j < y->width; ++j) {
        float sum = 0.0f;
        for (int p = 0; p < k->height; ++p)
          for (int q = 0; q < k->width; ++q) {
            int a = i + p - border, b = j + q - border;
            if (a >= 0 && a < x->height && b >= 0 && b < x->width)
              sum += AT(x, c, a, b) * AT(k, c, p, q);
          }
        AT(y, c, i, j) = sum;
      }
}

// Beyond `limit` nothing of `x` is looked at.
__attribute__((noinline)) void shift(int n, int m, int limit, const struct image *x, float *y) {
  for (int c = 0; c < 2; ++c)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) {
        y[(c * n + i) * m + j] *= 0.5f;
        if (i + j < limit)
          y[(c * n + i) * m + j] += x->data[(c * n + i) * m + j];
      }
}

static struct image image(int channels, int height, int width) {
  int count = channels * height * width;
  struct image t = {channels, height, width, malloc(count * sizeof(float))};
  for (int i = 0; i < count; ++i)
    t.data[i] = (float)(i * 37 % 101) * 0.25f - 7.0f;
  return t;
}

int main(int argc, char **argv) {
  int h = (int)example_arg(argc, argv, 1, 17), w = (int)example_arg(argc, argv, 2, 23);
  struct image x = image(2, h, w), k = image(2, 3, 3), y = image(2, h, w);
  convolve(&x, &k, &y);
  shift(h, w, w, &x, y.data);
  shift(h, w, 0, NULL, y.data);
  shift(h, w, -1, (const struct image *)4096, y.data);
  for (int i = 0; i < 2 * h * w; ++i)
    printf("%a\n", (double)y.data[i]);
  return 0;
}
