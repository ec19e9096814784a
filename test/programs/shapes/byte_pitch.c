// Rows a number of bytes apart: modelled with the pitch in elements, which is checked to be a whole number. Saturating arithmetic.
// ARGS: 33 17 0
// ARGS: 33 17 8
// ARGS: 1 1 4
// ARGS: 0 3 0
// ARGS: 33 17 2
// OFFLOAD: partial
#include "example.h"
#include <stdint.h>
#include <string.h>

__attribute__((noinline)) static void scale(int n, int m, long pitch, unsigned char *image) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      float v;
      memcpy(&v, image + i * pitch + 4 * j, 4);
      v = v * 0.5f + (float)i;
      memcpy(image + i * pitch + 4 * j, &v, 4);
    }
}

__attribute__((noinline)) static void saturate(int n, int16_t *restrict a, const int16_t *restrict b) {
  for (int i = 0; i < n; ++i) {
    int s = a[i] + b[i];
    a[i] = (int16_t)(s > 32767 ? 32767 : s < -32768 ? -32768 : s);
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  long pitch = 4L * m + (long)example_arg(argc, argv, 3, 0);
  size_t bytes = (size_t)n * pitch, count = bytes / 8 + 1;
  double *random = example_array(count);
  example_fill(random, count);
  unsigned char *image = calloc(count, 8);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      float v = (float)random[(size_t)(i * m + j) % count];
      memcpy(image + i * pitch + 4 * j, &v, 4);
    }
  scale(n, m, pitch, image);
  int shorts = (int)(count * 2);
  int16_t *a = malloc(count * 8), *b = malloc(count * 8);
  for (int i = 0; i < shorts; ++i) {
    a[i] = (int16_t)(random[i % count] * 60000.0);
    b[i] = (int16_t)(random[(i * 7) % count] * 50000.0);
  }
  saturate(shorts, a, b);
  memcpy(random, image, bytes / 8 * 8);
  example_print("image", random, count);
  long sum = 0;
  for (int i = 0; i < shorts; ++i)
    sum = sum * 3 + a[i];
  printf("%ld\n", sum);
  free(image);
  free(random);
  free(a);
  free(b);
  return 0;
}
