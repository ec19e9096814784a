// Updates of elements that data chooses: histograms of bytes and of numbers, weighted, under conditions, by minima, maxima and bits, in rows of their own, of two images,
// of the ends of edges; several steps over one histogram, and numbers that change between steps.
// ARGS: 333
// ARGS: 0
// ARGS: 1
// ARGS: 5000
// OFFLOAD: yes
// KERNELS: bytes numbers weighted filtered lowest highest bits rows joint image plane edges corners steps changing kept nearest
#include "example.h"
#include <string.h>

#define KERNEL __attribute__((noinline)) static

KERNEL void bytes(int n, int *restrict h, const unsigned char *restrict p) {
  for (int i = 0; i < n; ++i)
    h[p[i]]++;
}

KERNEL void numbers(long n, long *h, const int *p) {
  for (long i = 0; i < n; ++i)
    h[p[i]]--;
}

KERNEL void weighted(int n, unsigned *restrict h, const unsigned *restrict p, const unsigned *restrict w) {
  for (int i = 0; i < n; ++i)
    h[p[i] / 2] += w[i] * 3;
}

KERNEL void filtered(int n, long *restrict h, const int *restrict p, const TYPE *restrict x) {
  for (int i = 0; i < n; ++i)
    if (x[i] > 0)
      h[p[i]] += 5;
}

KERNEL void lowest(int n, int *restrict h, const int *restrict p, const int *restrict v) {
  for (int i = 0; i < n; ++i)
    h[p[i]] = v[i] < h[p[i]] ? v[i] : h[p[i]];
}

KERNEL void highest(int n, unsigned long *restrict h, const int *restrict p, const unsigned *restrict v) {
  for (int i = 0; i < n; ++i)
    if (v[i] > h[p[i]])
      h[p[i]] = v[i];
}

KERNEL void bits(int n, unsigned *restrict some, unsigned *restrict all, unsigned *restrict odd, const int *restrict p, const unsigned *restrict v) {
  for (int i = 0; i < n; ++i) {
    some[p[i]] |= v[i];
    all[p[i]] &= v[i];
    odd[p[i]] ^= v[i];
  }
}

KERNEL void rows(int n, int m, int (*restrict h)[64], const unsigned char *restrict p) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      h[i][p[i * n + j] >> 2] += 2;
}

KERNEL void joint(int n, int *restrict h, const unsigned char *restrict a, const unsigned char *restrict b) {
  for (int i = 0; i < n; ++i)
    h[(a[i] >> 4) * 16 + (b[i] >> 4)]++;
}

KERNEL void image(int n, int m, unsigned *restrict h, const signed char *restrict p) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      h[p[i * n + j] + 128] += 3;
}

KERNEL void plane(int n, long (*restrict h)[16], const unsigned char *restrict a, const unsigned char *restrict b) {
  for (int i = 0; i < n; ++i)
    h[a[i] >> 4][b[i] >> 4] ^= a[i];
}

KERNEL void edges(int n, int *restrict f, const int *restrict ends, const int *restrict v) {
  for (int i = 0; i < n; ++i) {
    f[ends[2 * i]] += v[i];
    f[ends[2 * i + 1]] -= v[i];
  }
}

KERNEL void corners(int n, int *restrict f, const int *restrict nodes, const int *restrict v) {
  for (int e = 0; e < n; ++e)
    for (int k = 0; k < 8; ++k)
      f[nodes[8 * e + k]] += v[e] + k;
}

KERNEL void steps(int n, int count, int *restrict h, const int *restrict p) {
  for (int t = 0; t < count; ++t)
    for (int i = 0; i < n; ++i)
      h[p[i]] += t;
}

/* The numbers change between steps, and are inspected again. */
KERNEL void changing(int n, int count, int *restrict h, int *restrict p) {
  for (int t = 0; t < count; ++t) {
    for (int i = 0; i < n; ++i)
      h[p[i]] += t;
    for (int i = 0; i < n; ++i)
      p[i] = (p[i] * 5 + t) & 15;
  }
}

/* What is there is kept where a condition on data says so. */
KERNEL void kept(int n, int *restrict h, const int *restrict p, const int *restrict v) {
  for (int i = 0; i < n; ++i) {
    int old = h[p[i]];
    h[p[i]] = v[i] > 7 ? old + v[i] : old;
  }
}

KERNEL void nearest(int n, long *restrict h, const int *restrict p, const long *restrict v) {
  for (int i = 0; i < n; ++i) {
    int k = p[i];
    long d = v[i];
    if (d < h[k])
      h[k] = d;
  }
}

static void print(const char *name, const void *data, size_t size) {
  const unsigned char *b = data;
  uint64_t hash = 1469598103934665603u;
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ b[i]) * 1099511628211u;
  printf("%s %016llx\n", name, (unsigned long long)hash);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333);
  size_t m = (size_t)n + 256;
  int *ints = calloc(16 * m, sizeof *ints), *h = ints, *p = ints + 4 * m, *v = ints + 13 * m;
  int(*row)[64] = calloc(7 * 64, sizeof *ints);
  unsigned *natural = calloc(4 * m, sizeof *natural), *some = natural, *all = natural + m, *odd = natural + 2 * m;
  long *wide = calloc(2 * m, sizeof *wide);
  unsigned char *image_ = malloc(8 * m);
  TYPE *x = example_array(m);
  example_fill(x, m);
  for (size_t i = 0; i < m; ++i)
    x[i] -= (TYPE)0.5;
  for (size_t i = 0; i < 8 * m; ++i)
    image_[i] = (unsigned char)example_bits();
  for (size_t i = 0; i < 9 * m; ++i)
    p[i] = n ? (int)(example_bits() % (uint64_t)(n / 2 + 1)) : 0;
  for (size_t i = 0; i < m; ++i) {
    v[i] = (int)(example_bits() % 1000) - 300;
    all[i] = ~0u;
  }
  bytes(n, h, image_);
  print("bytes", h, m * sizeof *h);
  numbers(n, wide, p);
  print("numbers", wide, 2 * m * sizeof *wide);
  weighted(n, natural + 3 * m, (unsigned *)p, (unsigned *)v);
  print("weighted", natural, 4 * m * sizeof *natural);
  filtered(n, wide, p, x);
  print("filtered", wide, 2 * m * sizeof *wide);
  lowest(n, h, p, v);
  print("lowest", h, 4 * m * sizeof *h);
  highest(n, (unsigned long *)wide + m, p, (unsigned *)v);
  print("highest", wide, 2 * m * sizeof *wide);
  bits(n, some, all, odd, p, (unsigned *)v);
  print("bits", natural, 4 * m * sizeof *natural);
  rows(n, 7, row, image_);
  print("rows", row, sizeof *row * 7);
  joint(n, h + m, image_, image_ + n);
  print("joint", h, 4 * m * sizeof *h);
  image(n, 7, natural, (signed char *)image_);
  print("image", natural, 4 * m * sizeof *natural);
  plane(n, (long(*)[16])wide, image_, image_ + n);
  print("plane", wide, 2 * m * sizeof *wide);
  edges(n, h + 2 * m, p, v);
  print("edges", h, 4 * m * sizeof *h);
  corners(n, h, p, v);
  print("corners", h, 4 * m * sizeof *h);
  steps(n, 5, h + 3 * m, p);
  print("steps", h, 4 * m * sizeof *h);
  kept(n, h, p, v);
  print("kept", h, 4 * m * sizeof *h);
  nearest(n, wide, p, wide + m);
  print("nearest", wide, 2 * m * sizeof *wide);
  changing(n, 5, h, p);
  print("changing", ints, 16 * m * sizeof *ints);
  free(ints), free(row), free(natural), free(wide), free(image_), free(x);
  return 0;
}
