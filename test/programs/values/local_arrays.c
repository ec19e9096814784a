// Local arrays that iterations fill and use, too long for values of their own: where a counter's range is an assumption, sorted by exchanges under conditions on
// data, rotated. One is read where an iteration did not write it.
// ARGS: 700
// ARGS: 1
// ARGS: 12
// ARGS: 0
// OFFLOAD: yes
// KERNELS: rounds smoothed sorted medians stream pivoted
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void rounds(uint32_t *out, const uint32_t *in, int blocks) {
  for (int b = 0; b < blocks; ++b) {
    uint32_t x[16];
    for (int i = 0; i < 16; ++i)
      x[i] = in[i] + (uint32_t)b;
    for (int r = 0; r < 10; ++r)
      for (int i = 0; i < 16; ++i)
        x[i] = x[i] * 5 + x[(i + 1) & 15];
    for (int i = 0; i < 16; ++i)
      out[b * 16 + i] = x[i];
  }
}

KERNEL void smoothed(float *out, const float *in, int rows) {
  for (int b = 0; b < rows; ++b) {
    float x[34];
    for (int i = 0; i < 34; ++i)
      x[i] = in[b + i];
    for (int r = 0; r < 4; ++r)
      for (int i = 1; i < 33; ++i)
        x[i] = 0.5f * x[i] + 0.25f * (x[i - 1] + x[i + 1]);
    for (int i = 0; i < 32; ++i)
      out[b * 32 + i] = x[i + 1];
  }
}

static inline void order(uint8_t *a, uint8_t *b) {
  if (*a > *b) {
    uint8_t t = *a;
    *a = *b;
    *b = t;
  }
}

KERNEL void medians(const uint8_t *in, uint8_t *out, int w, int h) {
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      uint8_t v[9];
      int k = 0;
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i)
          v[k++] = in[(y + j) * w + x + i];
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8 - i; ++j)
          order(&v[j], &v[j + 1]);
      out[y * w + x] = v[4];
    }
}

// The smallest ones come first, those of a sequence that a condition leaves out are not looked at.
KERNEL void sorted(const int *in, int *out, int n, int limit) {
  for (int b = 0; b < n; ++b) {
    int v[12];
    for (int i = 0; i < 12; ++i)
      v[i] = in[b + i];
    for (int i = 0; i < 12; ++i)
      for (int j = i + 1; j < 12; ++j)
        if (v[j] < v[i] && v[j] > limit) {
          int t = v[i];
          v[i] = v[j];
          v[j] = t;
        }
    for (int i = 0; i < 12; ++i)
      out[b * 12 + i] = v[i];
  }
}

static inline uint32_t rotl(uint32_t x, int k) { return x << k | x >> (32 - k); }
#define QUARTER(a, b, c, d) \
  (x[a] += x[b], x[d] = rotl(x[d] ^ x[a], 16), x[c] += x[d], x[b] = rotl(x[b] ^ x[c], 12), x[a] += x[b], x[d] = rotl(x[d] ^ x[a], 8), x[c] += x[d], \
   x[b] = rotl(x[b] ^ x[c], 7))

// The stream of ChaCha20 (RFC 8439, 2.3).
KERNEL void stream(uint32_t *out, const uint32_t in[16], int blocks) {
  for (int b = 0; b < blocks; ++b) {
    uint32_t x[16];
    for (int i = 0; i < 16; ++i)
      x[i] = in[i];
    x[12] += (uint32_t)b;
    for (int r = 0; r < 10; ++r) {
      QUARTER(0, 4, 8, 12);
      QUARTER(1, 5, 9, 13);
      QUARTER(2, 6, 10, 14);
      QUARTER(3, 7, 11, 15);
      QUARTER(0, 5, 10, 15);
      QUARTER(1, 6, 11, 12);
      QUARTER(2, 7, 8, 13);
      QUARTER(3, 4, 9, 14);
    }
    for (int i = 0; i < 16; ++i)
      out[b * 16 + i] = x[i] + in[i] + (i == 12 ? (uint32_t)b : 0);
  }
}

// Clamped sums in a table that is longer than what an iteration begins with.
KERNEL void pivoted(const double *in, double *out, int n) {
  for (int b = 0; b < n; ++b) {
    double m[8][9];
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 9; ++j)
        m[i][j] = in[(b + i * 9 + j) % 97] + (i == j ? 9.0 : 0.0);
    for (int p = 0; p < 8; ++p)
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 9; ++j)
          if (i != p && j > p) {
            double next = m[i][j] - m[i][p] / m[p][p] * m[p][j];
            if (next > -20.0)
              m[i][j] = next;
          }
    for (int i = 0; i < 8; ++i)
      out[b * 8 + i] = m[i][8] / m[i][i];
  }
}

// What one iteration leaves in the array, the next one reads.
KERNEL int carried(const int *in, int *out, int n) {
  int v[12] = {0}, found = 0;
  for (int b = 0; b < n; ++b) {
    for (int i = 0; i < 12; ++i)
      if (in[b + i] > v[i])
        v[i] = in[b + i];
    for (int i = 0; i < 12; ++i)
      out[b * 12 + i] = v[i];
  }
  for (int i = 0; i < 12; ++i)
    found += v[i];
  return found;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 700), w = 23, h = n / 20;
  size_t all = (size_t)n * 40 + 400;
  uint32_t *words = malloc(all * sizeof *words), *stream_out = malloc(all * sizeof *words);
  float *in = malloc(all * sizeof *in), *out = malloc(all * sizeof *out);
  uint8_t *pixels = malloc(all), *filtered = calloc(all, 1);
  int *numbers = malloc(all * sizeof *numbers), *places = calloc(all, sizeof *places);
  double *x = example_array(all), *y = example_array(all);
  for (size_t i = 0; i < all; ++i) {
    words[i] = (uint32_t)example_bits();
    in[i] = (float)example_uniform();
    pixels[i] = (uint8_t)example_bits();
    numbers[i] = (int)(example_bits() % 1000);
    stream_out[i] = 0;
    out[i] = 0;
  }
  example_fill(x, all);
  example_fill(y, all);
  rounds(stream_out, words, n);
  printf("rounds %016llx\n", (unsigned long long)example_hash(stream_out, all * sizeof *words));
  stream(stream_out, words, n);
  printf("stream %016llx\n", (unsigned long long)example_hash(stream_out, all * sizeof *words));
  smoothed(out, in, n);
  printf("smoothed %016llx\n", (unsigned long long)example_hash(out, all * sizeof *out));
  medians(pixels, filtered, w, h);
  printf("medians %016llx\n", (unsigned long long)example_hash(filtered, all));
  sorted(numbers, places, n, 100);
  printf("sorted %016llx\n", (unsigned long long)example_hash(places, all * sizeof *places));
  pivoted(x, y, n);
  example_print("pivoted", y, all);
  printf("carried %d", carried(numbers, places, n));
  printf(" %016llx\n", (unsigned long long)example_hash(places, all * sizeof *places));
  return 0;
}
