// Time steps that end in a copy of the whole array, of two and three dimensions, and in one that is filled: the steps are fused. Numbers that are none keep
// all their bits.
// ARGS: 12
// ARGS: 0
// ARGS: 1
// ARGS: 7
// OFFLOAD: yes
// KERNELS: plane
// KERNELS: space
// KERNELS: cleared
#include "example.h"
#include <string.h>

#define KERNEL __attribute__((noinline)) static

static double a[48][50], b[48][50], c[12][20][33], d[12][20][33];
static float sum[40][64];

KERNEL void plane(int steps) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < 47; i++)
      for (int j = 1; j < 49; j++)
        b[i][j] = a[i][j] + 0.1 * (a[i + 1][j] + a[i - 1][j] + a[i][j + 1] + a[i][j - 1] - 4 * a[i][j]);
    memcpy(a, b, sizeof a);
  }
}

KERNEL void space(int steps) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < 11; i++)
      for (int j = 1; j < 19; j++)
        for (int k = 1; k < 32; k++)
          d[i][j][k] = 0.2 * (c[i - 1][j][k] + c[i + 1][j][k] + c[i][j - 1][k] + c[i][j + 1][k] + c[i][j][k - 1]);
    memcpy(c, d, sizeof c);
  }
}

KERNEL void cleared(int steps) {
  for (int t = 0; t < steps; t++) {
    memset(sum, 0, sizeof sum);
    for (int i = 0; i < 40; i++)
      for (int j = 0; j < 47; j++)
        sum[i][j] += (float)a[i][j] * (float)t;
  }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 12);
  unsigned state = 1;
  for (size_t i = 0; i < sizeof a / 8; i++)
    (&a[0][0])[i] = (&b[0][0])[i] = (double)(state = state * 1664525u + 1013904223u) * 0x1p-32;
  for (size_t i = 0; i < sizeof c / 8; i++)
    (&c[0][0][0])[i] = (&d[0][0][0])[i] = (double)(state = state * 1664525u + 1013904223u) * 0x1p-32;
  // At the border, which is copied and never read.
  unsigned long long bits[] = {0x7ff8dead0000beefull, 0xfff0000000000001ull, 0x8000000000000000ull, 1};
  memcpy(b[0], bits, sizeof bits);
  memcpy(&d[0][0][0], bits, sizeof bits);
  plane(steps);
  space(steps);
  cleared(steps);
  const struct { const char *name; const void *data; size_t bytes; } all[] = {{"a", a, sizeof a}, {"b", b, sizeof b}, {"c", c, sizeof c}, {"d", d, sizeof d}, {"sum", sum, sizeof sum}};
  for (int i = 0; i < 5; i++) {
    unsigned long long hash = 1469598103934665603ull;
    for (size_t k = 0; k < all[i].bytes; k++)
      hash = (hash ^ ((const unsigned char *)all[i].data)[k]) * 1099511628211ull;
    printf("%s %016llx\n", all[i].name, hash);
  }
  return 0;
}
