// Histograms whose numbers are spoiled: one too large, by which an update reaches the weights; a negative one, before the array, where the numbers themselves are; a natural
// number far outside; one of a missing page, behind a condition that never holds.
// ARGS: 333
// ARGS: 1
// OFFLOAD: partial
// FALLBACK: overlap
// FALLBACK: is not negative: the least value of
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void weighted(int n, int *h, const int *p, const int *w) {
  for (int i = 0; i < n; ++i)
    h[p[i]] += w[i];
}

KERNEL void filtered(int n, int *h, const unsigned *p, const int *w) {
  for (int i = 0; i < n; ++i)
    if (w[i] > 0)
      h[p[i]] += 5;
}

static void print(const char *name, const void *data, size_t bytes) {
  printf("%s %016llx\n", name, (unsigned long long)example_hash(data, bytes));
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333), bins = 32;
  size_t m = (size_t)n + 64;
  int *block = calloc(4 * m, sizeof *block), *p = block + m, *h = p + n, *w = h + bins;
  for (int i = 0; i < n; ++i) {
    p[i] = (int)(example_bits() % (uint64_t)bins);
    w[i] = (int)(example_bits() % 100) + 1;
  }
  weighted(n, h, p, w);
  print("fine", block, 16 * m);
  /* Adds to w[0], which a later iteration reads where there is one. */
  p[0] = bins;
  weighted(n, h, p, w);
  print("one too large", block, 16 * m);
  /* Changes the last number, which a later iteration uses where there is one. */
  p[0] = -1;
  p[n - 1] = 0;
  w[0] = 1;
  weighted(n, h, p, w);
  print("negative", block, 16 * m);
  for (int i = 0; i < n; ++i)
    p[i] = i % bins;
  filtered(n, h, (unsigned *)p, w);
  print("filtered", block, 16 * m);
  p[0] = -5;
  w[0] = -1;
  filtered(n, h, (unsigned *)p, w);
  print("far outside", block, 16 * m);
  free(block);
  return 0;
}
