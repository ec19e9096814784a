// Convolutions and products large enough for several points a thread: operands that move with a point and with a loop, boxes that start and end
// inside of a tile, aligned and not.
// ARGS: 3 70 68 20
// ARGS: 1 1 1 1
// ARGS: 2 37 41 9
// ARGS: 1 64 128 16
// ARGS: 2 132 100 33
// OFFLOAD: any
// TURNS: 3
#include "example.h"

enum { R = 3 };

// Channels innermost: pixels beneath the window move with the point along x.
__attribute__((noinline)) static void convolution(int n, int w, int k, int c, float out[n][w][k], float in[n][w + R - 1][c],
                                                  float weight[R][c][k]) {
  for (int b = 0; b < n; ++b)
    for (int x = 0; x < w; ++x)
      for (int o = 0; o < k; ++o)
        for (int q = 0; q < R; ++q)
          for (int i = 0; i < c; ++i)
            out[b][x][o] += in[b][x + q][i] * weight[q][i][o];
}

// A window that goes back, along rows, in the last dimension.
__attribute__((noinline)) static void along_rows(int n, int w, int k, int c, double out[n][k][w], double in[n][c][w + R - 1],
                                                 double weight[R][k][c]) {
  for (int b = 0; b < n; ++b)
    for (int o = 0; o < k; ++o)
      for (int x = 0; x < w; ++x) {
        double sum = 1;
        for (int q = 0; q < R; ++q)
          for (int i = 0; i < c; ++i)
            sum += in[b][i][x - q + R - 1] * weight[q][o][i];
        out[b][o][x] = sum;
      }
}

// A window of every other pixel, from a place that is known at run time only.
__attribute__((noinline)) static void dilated(int n, int w, int k, int c, int from, double out[n][w][k], double in[n][w + 2 * R][c],
                                              double weight[R][c][k]) {
  for (int b = 0; b < n; ++b)
    for (int x = 0; x < w; ++x)
      for (int o = 0; o < k; ++o)
        for (int q = 0; q < R; ++q)
          for (int i = 0; i < c; ++i)
            out[b][x][o] += in[b][x + 2 * q + from][i] * weight[q][i][o];
}

// Integers, with a remainder of what the window reads: points that do not exist must not compute one of what nobody reads.
__attribute__((noinline)) static void remainders(int n, int w, int k, int c, int out[n][w][k], int in[n][w + R - 1][c],
                                                 int weight[R][c][k]) {
  for (int b = 0; b < n; ++b)
    for (int x = 0; x < w; ++x)
      for (int o = 0; o < k; ++o)
        for (int q = 0; q < R; ++q)
          for (int i = 0; i < c; ++i)
            out[b][x][o] += weight[q][i][o] % in[b][x + q][i];
}

// The inner points of a batch of products.
__attribute__((noinline)) static void inner(int n, int w, int k, int c, float out[n][w][k], float A[n][w][c], float B[n][c][k]) {
  for (int b = 0; b < n; ++b)
    for (int x = 1; x < w - 1; ++x)
      for (int o = 4; o < k; ++o)
        for (int i = 0; i < c; ++i)
          out[b][x][o] += A[b][x][i] * B[b][i][o];
}

static void fill(size_t count, float *f, int *s) {
  for (size_t i = 0; i < count; ++i) {
    f[i] = (float)example_uniform();
    s[i] = 1 + (int)(example_bits() % 1000);
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 3), w = (int)example_arg(argc, argv, 2, 70), k = (int)example_arg(argc, argv, 3, 68),
      c = (int)example_arg(argc, argv, 4, 20);
  size_t out = (size_t)n * w * k, in = (size_t)n * (w + 2 * R) * c, weight = (size_t)(n > R ? n : R) * c * k;
  size_t all = out + in + weight;
  float *f = malloc(all * sizeof *f);
  int *s = malloc(all * sizeof *s);
  TYPE *d = example_array(all);
  double *e = malloc(all * sizeof *e);
  if (!f || !s || !e) return 2;
  fill(all, f, s);
  example_fill(d, all);
  for (size_t i = 0; i < all; ++i)
    e[i] = (double)d[i];
  convolution(n, w, k, c, (void *)f, (void *)(f + out), (void *)(f + out + in));
  printf("convolution %016llx\n", (unsigned long long)example_hash(f, out * sizeof *f));
  inner(n, w, k, c, (void *)f, (void *)(f + out), (void *)(f + out + in));
  printf("inner %016llx\n", (unsigned long long)example_hash(f, out * sizeof *f));
  along_rows(n, w, k, c, (void *)e, (void *)(e + out), (void *)(e + out + in));
  printf("along_rows %016llx\n", (unsigned long long)example_hash(e, out * sizeof *e));
  dilated(n, w, k, c, R > 2 ? c % 2 : 0, (void *)e, (void *)(e + out), (void *)(e + out + in));
  printf("dilated %016llx\n", (unsigned long long)example_hash(e, out * sizeof *e));
  remainders(n, w, k, c, (void *)s, (void *)(s + out), (void *)(s + out + in));
  printf("remainders %016llx\n", (unsigned long long)example_hash(s, out * sizeof *s));
  free(f);
  free(s);
  free(d);
  free(e);
  return 0;
}
