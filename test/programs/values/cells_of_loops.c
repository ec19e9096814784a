// Arrays that each iteration fills and reads anew: two lines of sums (the smoother of NAS MG, variable row length), a window sorted in place
// (a median by minima and maxima), both with more cells than the images; loops unrolled by hand, whose rest begins where they end.
// ARGS: 33 17
// ARGS: 1 1
// ARGS: 3 3
// ARGS: 2 5
// ARGS: 31 60
// OFFLOAD: yes
#include "example.h"

enum { LONGEST = 64 };

__attribute__((noinline)) static void smooth(int n1, int n2, int n3, const double *pr, double *pu, const double *c) {
  const double(*r)[n2][n1] = (const double(*)[n2][n1])pr;
  double(*u)[n2][n1] = (double(*)[n2][n1])pu;
  double r1[LONGEST], r2[LONGEST];
  for (int i3 = 1; i3 < n3 - 1; ++i3)
    for (int i2 = 1; i2 < n2 - 1; ++i2) {
      for (int i1 = 0; i1 < n1; ++i1) {
        r1[i1] = r[i3][i2 - 1][i1] + r[i3][i2 + 1][i1] + r[i3 - 1][i2][i1] + r[i3 + 1][i2][i1];
        r2[i1] = r[i3 - 1][i2 - 1][i1] + r[i3 - 1][i2 + 1][i1] + r[i3 + 1][i2 - 1][i1] + r[i3 + 1][i2 + 1][i1];
      }
      for (int i1 = 1; i1 < n1 - 1; ++i1)
        u[i3][i2][i1] = u[i3][i2][i1] + c[0] * r[i3][i2][i1] + c[1] * (r[i3][i2][i1 - 1] + r[i3][i2][i1 + 1] + r1[i1]) + c[2] * (r2[i1] + r1[i1 - 1] + r1[i1 + 1]);
    }
}

static void order(unsigned char *a, unsigned char *b) {
  unsigned char low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
  *a = low;
  *b = high;
}

__attribute__((noinline)) static void median(int h, int w, const unsigned char *in, unsigned char *out) {
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      unsigned char p[9];
      int k = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          p[k++] = in[(y + dy) * w + x + dx];
      order(&p[1], &p[2]), order(&p[4], &p[5]), order(&p[7], &p[8]), order(&p[0], &p[1]), order(&p[3], &p[4]), order(&p[6], &p[7]), order(&p[1], &p[2]);
      order(&p[4], &p[5]), order(&p[7], &p[8]), order(&p[0], &p[3]), order(&p[5], &p[8]), order(&p[4], &p[7]), order(&p[3], &p[6]), order(&p[1], &p[4]);
      order(&p[2], &p[5]), order(&p[4], &p[7]), order(&p[4], &p[2]), order(&p[6], &p[4]), order(&p[4], &p[2]);
      out[y * w + x] = p[4];
    }
}

__attribute__((noinline)) static void by_fours(int n, const double *a, double *b) {
  int i;
  for (i = 1; i + 3 < n - 1; i += 4) {
    b[i] = a[i - 1] + a[i + 1];
    b[i + 1] = a[i] + a[i + 2];
    b[i + 2] = a[i + 1] + a[i + 3];
    b[i + 3] = a[i + 2] + a[i + 4];
  }
  for (; i < n - 1; ++i)
    b[i] = a[i - 1] + a[i + 1];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m * 5;
  double *a = example_array(count), *b = example_array(count), c[4] = {-0.375, 0.03125, -0.015625, 0};
  example_fill(a, count);
  example_fill(b, count);
  smooth(m < LONGEST ? m : LONGEST, n, 5, a, b, c);
  example_print("smooth", b, count);
  unsigned char *in = malloc(count), *out = malloc(count);
  for (size_t i = 0; i < count; ++i) {
    in[i] = (unsigned char)example_bits();
    out[i] = 7;
  }
  median(n, m, in, out);
  unsigned long sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum = sum * 31 + out[i];
  printf("median %lx\n", sum);
  by_fours((int)count, a, b);
  example_print("by fours", b, count);
  return 0;
}
