// Integers of all widths, with conversions, shifts, divisions and wrap-around.
// ARGS: 333
// ARGS: 0
// ARGS: 1
// ARGS: 2
// OFFLOAD: yes
// KERNELS: kernel
#include "example.h"


__attribute__((noinline)) static void kernel(int n, int8_t *restrict a, int16_t *restrict b, int32_t *restrict c,
                                             int64_t *restrict d, uint32_t *restrict e) {
  for (int i = 0; i < n; ++i) {
    a[i] = (int8_t)(a[i] * 3 + i);
    b[i] = (int16_t)(b[i] ^ (a[i] * 16));
    c[i] = c[i] / (b[i] == 0 ? 1 : b[i]) - c[i] % 7;
    d[i] = (d[i] >> 3) + (int64_t)c[i] * a[i];
    e[i] = e[i] * 2654435761u + (uint32_t)(d[i] >> 7);
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333);
  size_t s = (size_t)n + 1;
  int8_t *a = malloc(s);
  int16_t *b = malloc(2 * s);
  int32_t *c = malloc(4 * s);
  int64_t *d = malloc(8 * s);
  uint32_t *e = malloc(4 * s);
  if (!a || !b || !c || !d || !e)
    return 2;
  for (int i = 0; i < n; ++i) {
    a[i] = (int8_t)example_bits();
    b[i] = (int16_t)example_bits();
    c[i] = (int32_t)(example_bits() >> 34);
    d[i] = (int64_t)example_bits();
    e[i] = (uint32_t)example_bits();
  }
  kernel(n, a, b, c, d, e);
  printf("%016llx %016llx %016llx %016llx %016llx\n", (unsigned long long)example_hash(a, (size_t)n),
         (unsigned long long)example_hash(b, 2 * (size_t)n), (unsigned long long)example_hash(c, 4 * (size_t)n),
         (unsigned long long)example_hash(d, 8 * (size_t)n), (unsigned long long)example_hash(e, 4 * (size_t)n));
  return 0;
}
