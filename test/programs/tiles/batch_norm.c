// Batch normalisation: the root of a channel's variance, of use in the loop behind it only; for channels without elements it is computed
// all the same, and may set errno.
//
// ARGS: 3 5 40
// ARGS: 0 5 40
// ARGS: 3 0 40
// ARGS: 3 5 0
// ARGS: 1 1 1
// ARGS: 2 33 65
// OFFLOAD: partial
#include "example.h"
#include <errno.h>
#include <math.h>

__attribute__((noinline)) static void normalise(float *x, const float *scale, const float *shift, int n, int c, int m, float least) {
  for (int k = 0; k < c; k++) {
    float mean = 0, variance = 0;
    for (int b = 0; b < n; b++)
      for (int i = 0; i < m; i++)
        mean += x[((size_t)b * c + k) * m + i];
    mean /= (float)(n * m);
    for (int b = 0; b < n; b++)
      for (int i = 0; i < m; i++) {
        float d = x[((size_t)b * c + k) * m + i] - mean;
        variance += d * d;
      }
    variance /= (float)(n * m + 1);
    float factor = 1.0f / sqrtf(variance + least);
    for (int b = 0; b < n; b++)
      for (int i = 0; i < m; i++) {
        size_t at = ((size_t)b * c + k) * m + i;
        x[at] = (x[at] - mean) * factor * scale[k] + shift[k];
      }
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 3), c = (int)example_arg(argc, argv, 2, 5), m = (int)example_arg(argc, argv, 3, 40);
  size_t count = (size_t)n * c * m;
  float *x = malloc(count * sizeof *x + 1), *scale = malloc(c * sizeof *x + 1), *shift = malloc(c * sizeof *x + 1);
  unsigned s = 5;
  for (size_t i = 0; i < count; i++)
    x[i] = (float)((s = s * 1664525u + 1013904223u) >> 8) / 16777216.0f;
  for (int k = 0; k < c; k++) {
    scale[k] = 1.0f + 0.25f * k;
    shift[k] = 0.5f * k;
  }
  errno = 0;
  normalise(x, scale, shift, n, c, m, 1e-5f);
  printf("errno %d\n", errno);
  normalise(x, scale, shift, n, c, m, -1e9f);
  printf("errno %d\n", errno);
  unsigned long hash = 0;
  for (size_t i = 0; i < count; i++) {
    unsigned bits;
    if (x[i] != x[i])
      bits = 1; // The sign of a NaN is nobody's.
    else
      __builtin_memcpy(&bits, &x[i], sizeof bits);
    hash = hash * 31 + bits;
  }
  printf("%lx\n", hash);
  free(x);
  free(scale);
  free(shift);
  return 0;
}
