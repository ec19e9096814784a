// An image resized (Grosser et al., ICS 2015, sizes b * P): each pixel of the small image in four of the large one, or their mean, with
// channels. A width that is not that of the rows breaks the assumption.
// ARGS: 17 33 33
// ARGS: 0 0 0
// ARGS: 1 1 1
// ARGS: 5 40 20
// OFFLOAD: partial
// FALLBACK: stay inside its dimensions
#include "example.h"

__attribute__((noinline)) static void enlarge(int h, int w, int pitch, float *restrict out, const float *restrict in) {
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      out[2 * i * 2 * pitch + 2 * j] = in[i * pitch + j];
      out[2 * i * 2 * pitch + 2 * j + 1] = in[i * pitch + j] * 0.75f;
      out[(2 * i + 1) * 2 * pitch + 2 * j] = in[i * pitch + j] * 0.5f;
      out[(2 * i + 1) * 2 * pitch + 2 * j + 1] = in[i * pitch + j] * 0.25f;
    }
}

__attribute__((noinline)) static void reduce(int h, int w, float *restrict out, const float *restrict in) {
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++)
      for (int c = 0; c < 3; c++)
        out[3 * (i * w + j) + c] = in[3 * (2 * i * 2 * w + 2 * j) + c] + in[3 * ((2 * i + 1) * 2 * w + 2 * j + 1) + c];
}

static float *image(size_t count) {
  float *p = calloc(count + 1, sizeof *p);
  if (!p)
    exit(2);
  for (size_t i = 0; i < count; ++i)
    p[i] = (float)example_uniform();
  return p;
}

int main(int argc, char **argv) {
  int h = (int)example_arg(argc, argv, 1, 17), w = (int)example_arg(argc, argv, 2, 33), pitch = (int)example_arg(argc, argv, 3, 33);
  size_t small = (size_t)(h + 1) * (w + pitch);
  float *in = image(12 * small), *out = image(12 * small);
  enlarge(h, w, pitch, out, in);
  printf("%016llx\n", (unsigned long long)example_hash(out, 4 * small * sizeof *out));
  reduce(h, w, in, out);
  printf("%016llx\n", (unsigned long long)example_hash(in, 12 * small * sizeof *in));
  free(in);
  free(out);
  return 0;
}
