// Images whose sizes, number of channels and pixels hang on a structure that stores of bytes might change: below guards of rotated loops
// these are read before the outermost loop. Where the number of channels changes on the way, the loops stay on the host.
// ARGS: 60 44 3
// ARGS: 1 1 1
// ARGS: 0 5 3
// ARGS: 5 7 0
// ARGS: 33 65 4
// OFFLOAD: partial
// FALLBACK: may change
// KERNELS: halve
#include "example.h"

#define KEEP __attribute__((noinline)) static

struct image {
  int width, height;
  uint8_t *pixels;
  int channels;
};

static int within(int x, int n) { return x < 0 ? 0 : x > n - 1 ? n - 1 : x; }

KEEP void halve(const struct image *from, struct image *to) {
  for (int y = 0; y < from->height; ++y)
    for (int x = 0; x < from->width; ++x)
      for (int c = 0; c < from->channels; ++c)
        to->pixels[(y * from->width + x) * from->channels + c] = from->pixels[(y * from->width + x) * from->channels + c] / 2 + 1;
}

KEEP void smooth(const struct image *from, struct image *to, const int *weights) {
  for (int y = 0; y < from->height; ++y)
    for (int x = 0; x < from->width; ++x)
      for (int c = 0; c < from->channels; ++c) {
        int sum = 0;
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx)
            sum += weights[(dy + 1) * 3 + dx + 1] *
                   from->pixels[(within(y + dy, from->height) * from->width + within(x + dx, from->width)) * from->channels + c];
        to->pixels[(y * from->width + x) * from->channels + c] = (uint8_t)(sum / 16);
      }
}

KEEP void levels(const struct image *of, uint8_t *to, const uint8_t *from) {
  for (int y = 0; y < of->height; ++y)
    for (int x = 0; x < of->width; ++x)
      for (int c = 0; c < of->channels; ++c)
        to[(y * of->width + x) * of->channels + c] = from[(y * of->width + x) * of->channels + c] + 1;
}

static void show(const char *name, const uint8_t *pixels, int n) {
  unsigned hash = 7;
  for (int i = 0; i < n; ++i)
    hash = hash * 31 + pixels[i];
  printf("%s %u\n", name, hash);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 60), m = (int)example_arg(argc, argv, 2, 44), k = (int)example_arg(argc, argv, 3, 3);
  int size = n * m * k;
  struct image a = {n, m, calloc(size + 1, 1), k}, b = {n, m, calloc(size + 1, 1), k};
  for (int i = 0; i < size; ++i)
    a.pixels[i] = (uint8_t)(i * 11 + i / 17);
  int weights[] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
  halve(&a, &b);
  show("halve", b.pixels, size);
  smooth(&b, &a, weights);
  show("smooth", a.pixels, size);
  levels(&a, b.pixels, a.pixels);
  show("levels", b.pixels, size);
  // The pixels begin in the number of channels, which the first pixel sets to another one. Offsets up to 4 channels' are inside.
  enum { SIDE = 12, ROOM = SIDE * SIDE * 4 + 64 };
  for (int other = 0; other <= 3; ++other) {
    uint8_t *block = calloc(sizeof(struct image) + ROOM, 1), *source = calloc(ROOM, 1);
    for (int i = 4; i < ROOM; ++i)
      source[i] = (uint8_t)(i * 7);
    source[0] = (uint8_t)(other - 1);
    source[1] = source[2] = source[3] = 255;
    struct image *changing = (struct image *)block;
    *changing = (struct image){SIDE, SIDE, (uint8_t *)&changing->channels, 3};
    levels(changing, changing->pixels, source);
    printf("changing %d\n", changing->channels);
    show("block", block + sizeof(struct image), ROOM);
    free(source);
    free(block);
  }
  return 0;
}
