// Rows that two pointers reverse, which meet in the middle, under a loop over rows that stays on the host: a row's place is a product of its number and the pitch, and no row is as long as its number.
// ARGS: 37 29 31
// ARGS: 0 5 5
// ARGS: 9 1 1
// ARGS: 3 64 64
// OFFLOAD: yes
// KERNELS: reverse members
#define TYPE uint8_t
#include "example.h"

#define NOINLINE __attribute__((noinline)) static

struct image {
  int width, height, pitch;
  float *pixels;
};

NOINLINE void reverse(uint8_t *pixels, int height, int width, int pitch) {
  for (int y = 0; y < height; y++) {
    uint8_t *left = pixels + y * pitch, *right = left + width - 1;
    while (left < right) {
      uint8_t first = *left;
      *left++ = *right;
      *right-- = first;
    }
  }
}

NOINLINE void members(struct image *image) {
  for (int y = 0; y < image->height; y++) {
    float *left = image->pixels + y * image->pitch, *right = left + image->width - 1;
    while (left < right) {
      float first = *left;
      *left++ = *right;
      *right-- = first;
    }
  }
}

int main(int argc, char **argv) {
  int height = (int)example_arg(argc, argv, 1, 37), width = (int)example_arg(argc, argv, 2, 29);
  int pitch = (int)example_arg(argc, argv, 3, 31);
  size_t count = (size_t)height * pitch;
  uint8_t *pixels = example_array(count);
  float *wide = malloc(count * sizeof *wide + 1);
  for (size_t i = 0; i < count; i++) {
    pixels[i] = (uint8_t)example_bits();
    wide[i] = (float)example_uniform();
  }
  reverse(pixels, height, width, pitch);
  struct image image = {width, height, pitch, wide};
  members(&image);
  example_print("pixels", pixels, count);
  for (size_t i = 0; i < count; i++)
    pixels[i] = (uint8_t)(int)(wide[i] * 100);
  example_print("wide", pixels, count);
  free(pixels);
  free(wide);
  return 0;
}
