// Totals from which each iteration takes something away: sums of what is negative, in parts. A step that counts down is none.
// ARGS: 1 1
// ARGS: 7 40
// ARGS: 33 129
// OFFLOAD: yes
// KERNELS: energy left remainder
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL int energy(int n, int m, const int *spin) {
  int total = 5;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      total -= spin[i * m + j] * (spin[i * m + (j + 1) % m] + spin[(i + 1) % n * m + j]);
  return total;
}

KERNEL void left(int n, int m, const unsigned *a, unsigned *rows) {
  for (int i = 0; i < n; i++) {
    unsigned rest = 1000000;
    for (int j = 0; j < m; j++)
      rest -= a[i * m + j] / 3;
    rows[i] = rest;
  }
}

KERNEL float remainder_of(int n, const float *a) {
#pragma clang fp reassociate(on)
  float rest = 64;
  for (int i = 0; i < n; i++)
    rest = rest - a[i];
  return rest;
}

KERNEL void remainder(int n, int m, const float *a, float *out) {
  for (int i = 0; i < n; i++)
    out[i] = a[i * m] - a[i * m + m - 1];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 33, m = argc > 2 ? atoi(argv[2]) : 129;
  size_t all = (size_t)n * (size_t)m;
  int *spin = malloc(all * sizeof *spin);
  unsigned *a = malloc(all * sizeof *a), *rows = malloc((size_t)n * sizeof *rows);
  float *f = malloc(all * sizeof *f), *out = malloc((size_t)n * sizeof *out);
  for (size_t i = 0; i < all; i++) {
    spin[i] = (i * 2654435761u >> 9) % 3 ? 1 : -1;
    a[i] = (unsigned)(i * 2246822519u >> 8) % 1000;
    f[i] = (float)(a[i] % 8);
  }
  printf("energy %d\n", energy(n, m, spin));
  left(n, m, a, rows);
  unsigned h = 0;
  for (int i = 0; i < n; i++)
    h = h * 31 + rows[i];
  // Small integers: any order gives the same sum.
  printf("left %u %a\n", h, (double)remainder_of(n * m, f));
  remainder(n, m, f, out);
  float s = 0;
  for (int i = 0; i < n; i++)
    s = s * 0.5f + out[i];
  printf("remainder %a\n", (double)s);
  return 0;
}
