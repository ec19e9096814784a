// Images whose sizes and pixels hang on a structure that stores of bytes might change. Sizes that are stored to on the way, and a structure that
// lies among the pixels, have to stay on the host.
// ARGS: 60 44
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 33 65
// OFFLOAD: partial
// FALLBACK: may change
// KERNELS: gray blur half turn mirror
#include "example.h"
#include <stdint.h>
#include <string.h>

struct image {
  int width, height, stride;
  uint8_t *pixels;
};

static uint8_t get(const struct image *im, int x, int y) { return im->pixels[y * im->stride + x]; }

static void put(struct image *im, int x, int y, int v) { im->pixels[y * im->stride + x] = v < 0 ? 0 : v > 255 ? 255 : v; }

__attribute__((noinline)) static void gray(const uint8_t *colours, struct image *to) {
  for (int y = 0; y < to->height; ++y)
    for (int x = 0; x < to->width; ++x) {
      const uint8_t *p = colours + 3 * (y * to->width + x);
      put(to, x, y, (77 * p[0] + 150 * p[1] + 29 * p[2]) >> 8);
    }
}

__attribute__((noinline)) static void blur(const struct image *from, struct image *to) {
  for (int y = 1; y < from->height - 1; ++y)
    for (int x = 1; x < from->width - 1; ++x) {
      int sum = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          sum += get(from, x + dx, y + dy) * (2 - abs(dx)) * (2 - abs(dy));
      put(to, x, y, sum / 16);
    }
}

__attribute__((noinline)) static void half(const struct image *from, struct image *to) {
  for (int y = 0; y < to->height; ++y)
    for (int x = 0; x < to->width; ++x)
      put(to, x, y, (get(from, 2 * x, 2 * y) + get(from, 2 * x + 1, 2 * y) + get(from, 2 * x, 2 * y + 1) +
                     get(from, 2 * x + 1, 2 * y + 1) + 2) >> 2);
}

__attribute__((noinline)) static void turn(const struct image *from, struct image *to) {
  for (int y = 0; y < from->height; ++y)
    for (int x = 0; x < from->width; ++x)
      put(to, from->height - 1 - y, x, get(from, x, y));
}

__attribute__((noinline)) static void mirror(struct image *im) {
  for (int y = 0; y < im->height; ++y)
    for (int x = 0; x < im->width / 2; ++x) {
      uint8_t *p = &im->pixels[y * im->stride + x], *q = &im->pixels[y * im->stride + im->width - 1 - x], t = *p;
      *p = *q;
      *q = t;
    }
}

// The threshold is no bound, but what the loop stores might change it as well.
__attribute__((noinline)) static void gamma_levels(struct image *im, const int *threshold) {
  for (int y = 0; y < im->height; ++y)
    for (int x = 0; x < im->width; ++x)
      im->pixels[y * im->stride + x] = im->pixels[y * im->stride + x] > *threshold ? 255 - im->pixels[y * im->stride + x] : 0;
}

// The structure itself gets smaller on the way.
__attribute__((noinline)) static void shrink(struct image *im) {
  for (int y = 0; y < im->height; ++y) {
    im->pixels[y * im->stride] ^= 1;
    if (y > im->height / 2)
      im->height -= 1;
  }
}

static void show(const char *name, const struct image *im) {
  unsigned hash = 7;
  for (int y = 0; y < im->height; ++y)
    for (int x = 0; x < im->width; ++x)
      hash = hash * 31 + get(im, x, y);
  printf("%s %u\n", name, hash);
}

static struct image image(int width, int height) {
  struct image im = {width, height, width + 3, calloc((size_t)(width + 3) * height + 1, 1)};
  return im;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 60), m = (int)example_arg(argc, argv, 2, 44);
  struct image a = image(n, m), b = image(n, m), c = image(n / 2, m / 2), d = image(m, n);
  uint8_t *colours = malloc((size_t)3 * n * m + 1);
  for (int i = 0; i < 3 * n * m; ++i)
    colours[i] = (uint8_t)(i * 11 + i / 17);
  gray(colours, &a);
  show("gray", &a);
  blur(&a, &b);
  show("blur", &b);
  half(&b, &c);
  show("half", &c);
  turn(&a, &d);
  show("turn", &d);
  mirror(&a);
  show("mirror", &a);
  int threshold = 100;
  gamma_levels(&a, &threshold);
  show("gamma", &a);
  shrink(&d);
  show("shrink", &d);
  // Row 3 of the pixels holds the structure, so its size is set to something else when the loop gets there.
  uint8_t *block = calloc((size_t)(m + 8) * 64, 1);
  struct image *within = (struct image *)(block + 3 * 64);
  struct image in_block = {64, m + 8, 64, block};
  memcpy(within, &in_block, sizeof in_block);
  for (int i = 0; i < 12; ++i)
    block[i] = 255;
  gamma_levels(within, &threshold);
  printf("within %d %d\n", within->width, block[5]);
  return 0;
}
