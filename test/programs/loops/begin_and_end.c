// Rows of a flat array from their begin to their end, `k = i * n` to `(i + 1) * n`, with counters of 32 and 64 bits, steps of three, a place to begin, and
// blocks around blocks; the lengths may be 0 or negative, for empty rows. Where an unsigned begin or end wraps around, the loop stays on the host.
// ARGS: 300 7
// ARGS: 0 3
// ARGS: 1 1
// ARGS: 33 0
// ARGS: 40 -5
// ARGS: 129 40
// ARGS: 40 700
// OFFLOAD: yes
// KERNELS: sums exponentials doubled every_third blocks
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define OUT_OF_LINE __attribute__((noinline))

OUT_OF_LINE static void sums(int m, int n, const float *a, float *o) {
  for (int i = 0; i < m; i++) {
    float v = 0;
    for (int k = i * n; k < (i + 1) * n; k++)
      v += a[k] * 0.5f;
    o[i] = -v / n;
  }
}

// What one kernel computes, another one adds up in order.
OUT_OF_LINE static void exponentials(int m, int n, const float *a, const float *b, float *o) {
  for (int i = 0; i < m; i++) {
    float v = 0;
    for (int k = i * n; k < (i + 1) * n; k++)
      v += b[k] >= 3 ? logf(1 + expf(a[k])) * b[k] : a[k];
    o[i] = v;
  }
}

OUT_OF_LINE static void doubled(long m, long n, long base, double *a) {
  for (long i = 0; i < m; i++)
    for (long k = base + i * n; k < base + i * n + n; k++)
      a[k] = 2 * a[k] + i;
}

OUT_OF_LINE static void every_third(int m, int n, int *a) {
  for (int i = 0; i < m; i++)
    for (int k = i * n; k < i * n + n; k += 3)
      a[k] = a[k] * 3 + i;
}

OUT_OF_LINE static void blocks(int m, int n, const float *restrict a, float *restrict o) {
  for (int i = 0; i < m; i++)
    for (int j = i * n; j < (i + 1) * n; j++)
      for (int k = j * 4; k < (j + 1) * 4; k++)
        o[k] = a[k] + i;
}

OUT_OF_LINE static void wraps(unsigned m, unsigned n, unsigned base, int *a) {
  for (unsigned i = 0; i < m; i++)
    for (unsigned k = base + i * n; k < base + (i + 1) * n; k++)
      a[k] = a[k] * 5 + i;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  int m = atoi(argv[1]), n = atoi(argv[2]), width = abs(n);
  size_t size = (size_t)m * width * 4 + 200;
  float *a = malloc(sizeof(float) * size), *b = malloc(sizeof(float) * size), *o = malloc(sizeof(float) * (m + 1));
  double *d = malloc(sizeof(double) * size);
  int *x = malloc(sizeof(int) * size);
  for (size_t i = 0; i < size; i++)
    a[i] = (i * 37 + 11) % 101 / 7.0f, b[i] = i % 7, d[i] = (i * 53 + 5) % 97 / 9.0, x[i] = i;
  double total = 0;
  sums(m, n, a, o);
  for (int i = 0; i < m && n != 0; i++)
    total = total * 0.99 + o[i];
  exponentials(m, n, a, b, o);
  doubled(m, n, 5, d);
  every_third(m, n, x);
  blocks(m, n, a, b);
  wraps(m, width, 3, x);
  // The first row ends behind the end of the numbers, where the second one begins.
  wraps(4, 16, -16u, x);
  wraps(4, 16, -9u, x);
  for (size_t i = 0; i < size; i++)
    total = total * 0.99 + (i >= (size_t)m ? 0 : o[i]) + d[i] + x[i] + b[i];
  printf("%.17g\n", total);
  return 0;
}
