// Population counts, leading zeros, rotations, byte swaps.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
// KERNELS: kernel
#include "example.h"


__attribute__((noinline)) static void kernel(int n, int m, uint64_t *restrict a, uint32_t *restrict b) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      uint64_t x = a[i * m + j];
      x ^= (x << 13) | (x >> 51);
      a[i * m + j] = __builtin_bswap64(x) + (uint64_t)__builtin_popcountll(x);
      b[i * m + j] = (uint32_t)__builtin_clzll(x | 1) * 64u + (uint32_t)__builtin_ctzll(x | 0x8000000000000000u);
    }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  uint64_t *a = malloc(8 * count + 8);
  uint32_t *b = calloc(count + 1, 4);
  if (!a || !b)
    return 2;
  for (size_t i = 0; i < count; ++i)
    a[i] = example_bits();
  kernel(n, m, a, b);
  printf("%016llx %016llx\n", (unsigned long long)example_hash(a, 8 * count), (unsigned long long)example_hash(b, 4 * count));
  return 0;
}
