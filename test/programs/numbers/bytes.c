// A 3x3 blur of an 8-bit image, with integer rounding.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
#include "example.h"


__attribute__((noinline)) static void blur(int h, int w, const uint8_t *restrict in, uint8_t *restrict out) {
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      int sum = 0;
      for (int r = -1; r <= 1; ++r)
        for (int s = -1; s <= 1; ++s)
          sum += in[(y + r) * w + x + s];
      out[y * w + x] = (uint8_t)((sum + 4) / 9);
    }
}

int main(int argc, char **argv) {
  int h = (int)example_arg(argc, argv, 1, 33), w = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)h * w;
  uint8_t *in = malloc(count + 1), *out = malloc(count + 1);
  if (!in || !out)
    return 2;
  for (size_t i = 0; i < count; ++i) {
    in[i] = (uint8_t)example_bits();
    out[i] = (uint8_t)example_bits();
  }
  blur(h, w, in, out);
  printf("%016llx\n", (unsigned long long)example_hash(out, count));
  return 0;
}
