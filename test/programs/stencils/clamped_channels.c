// Images as structures with a pitch and channels, read by a helper that clamps both coordinates. Sizes, pitch and data are loaded in the loop,
// which stores bytes. The pitch that is no multiple of the channels and the image whose structure lies in its own bytes run on the host.
// ARGS: 33 17 3 0
// ARGS: 33 17 3 6
// ARGS: 33 17 3 1
// ARGS: 1 1 1 0
// ARGS: 5 1 4 4
// ARGS: 0 3 2 0
// OFFLOAD: partial
// KERNELS: box
#include "example.h"
#include <string.h>

struct image {
  int width, height, channels, pitch;
  unsigned char *data;
};

static int clamp(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }

static unsigned char at(const struct image *im, int x, int y, int c) {
  x = clamp(x, 0, im->width - 1);
  y = clamp(y, 0, im->height - 1);
  return im->data[y * im->pitch + x * im->channels + c];
}

__attribute__((noinline)) static void edges(const struct image *in, struct image *out) {
  for (int y = 0; y < in->height; y++)
    for (int x = 0; x < in->width; x++) {
      int dx = at(in, x + 1, y, 0) - at(in, x - 1, y, 0), dy = at(in, x, y + 1, 0) - at(in, x, y - 1, 0);
      out->data[y * out->pitch + x * out->channels] = dx * dx + 3 * dy;
    }
}

__attribute__((noinline)) static void box(const struct image *in, struct image *out) {
  for (int y = 0; y < in->height; y++)
    for (int x = 0; x < in->width; x++)
      for (int c = 0; c < in->channels; c++)
        out->data[y * out->pitch + x * out->channels + c] =
            (at(in, x - 1, y - 1, c) + at(in, x + 1, y + 1, c) + 2 * at(in, x, y, c)) >> 2;
}

static void print(const char *name, const struct image *im) {
  unsigned long sum = 0;
  for (int i = 0; i < im->pitch * im->height; i++)
    sum = sum * 31 + im->data[i];
  printf("%s %lu\n", name, sum);
}

int main(int argc, char **argv) {
  int w = (int)example_arg(argc, argv, 1, 33), h = (int)example_arg(argc, argv, 2, 17);
  int c = (int)example_arg(argc, argv, 3, 3), pitch = w * c + (int)example_arg(argc, argv, 4, 0);
  size_t bytes = (size_t)pitch * h + sizeof(struct image);
  struct image a = {w, h, c, pitch, calloc(bytes, 1)}, b = {w, h, c, pitch, calloc(bytes, 1)};
  double *random = example_array(bytes);
  example_fill(random, bytes);
  for (size_t i = 0; i < bytes; i++)
    a.data[i] = (unsigned char)(int)(random[i] * 255.0);
  edges(&a, &b);
  print("edges", &b);
  box(&a, &b);
  print("box", &b);
  // The pitch lies in the first byte that is stored to: the second row begins elsewhere.
  struct image *own = calloc(1, 4096), column = {1, 2, 1, 1, a.data};
  *own = (struct image){1, 2, 1, 1, (unsigned char *)&own->pitch};
  edges(&column, own);
  print("own", &(struct image){1, 16, 1, 1, (unsigned char *)own});
  free(own);
  free(random);
  free(a.data);
  free(b.data);
  return 0;
}
