// Grids of half the size at each level, whose size is halved in the loop over levels or before it: the guard in front of the inner loops is of the size from before, so
// that only checks say that indices of 32 bits do not wrap. Half of each row, in steps that are counted with a remainder.
// ARGS: 64 5
// ARGS: 3 4
// ARGS: 1 3
// ARGS: 0 2
// OFFLOAD: yes
// KERNELS: levels later smoothed halves
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void levels(float *const *p, int count, int n) {
  for (int k = 1; k < count; ++k) {
    n /= 2;
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x)
        p[k][y * n + x] = 0.25f * (p[k - 1][2 * y * 2 * n + 2 * x] + p[k - 1][2 * y * 2 * n + 2 * x + 1] +
                                   p[k - 1][(2 * y + 1) * 2 * n + 2 * x] + p[k - 1][(2 * y + 1) * 2 * n + 2 * x + 1]);
  }
}

KERNEL void later(float *const *p, int count, int n) {
  for (int k = 1; k < count; ++k) {
    for (int y = 0; y < n / 2; ++y)
      for (int x = 0; x < n / 2; ++x)
        p[k][y * (n / 2) + x] = p[k - 1][2 * y * n + 2 * x] * 0.5f;
    n /= 2;
  }
}

KERNEL void smoothed(float *const *p, int count, int n) {
  for (int k = 0; k + 1 < count; ++k, n /= 2)
    for (int y = 1; y < n - 1; ++y)
      for (int x = 1; x < n - 1; ++x)
        p[count - 1][y * n + x] = p[k][y * n + x] + 0.5f * (p[k][(y - 1) * n + x] + p[k][(y + 1) * n + x]);
}

// Half of each row, behind a remainder of the step: nothing of the nest depends on the number of steps.
KERNEL void halves(int m, int n, float *a, float *b, int steps) {
  for (int t = 0; t < steps; t++) {
    b[t % m] += a[1];
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n / 2; j++)
        a[i * n + 2 * j] = a[i * n + 2 * j + 1] + 0.5f;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 64), count = (int)example_arg(argc, argv, 2, 5);
  size_t all = (size_t)n * (size_t)n;
  float *p[16];
  for (int k = 0; k < count; ++k) {
    // (Not equally far apart: that has versions of its own.)
    p[k] = malloc((all + 1 + 640 * (size_t)(k * k)) * sizeof(float));
    for (size_t i = 0; i < all; ++i)
      p[k][i] = (float)example_uniform();
  }
  levels(p, count, n);
  for (int k = 0; k < count; ++k)
    printf("levels %016llx\n", (unsigned long long)example_hash(p[k], all * sizeof(float)));
  smoothed(p, count, n);
  printf("smoothed %016llx\n", (unsigned long long)example_hash(p[count - 1], all * sizeof(float)));
  later(p, count, n);
  for (int k = 0; k < count; ++k)
    printf("later %016llx\n", (unsigned long long)example_hash(p[k], all * sizeof(float)));
  for (int k = 0; k < count && n > 0; ++k) {
    float *b = calloc((size_t)n, sizeof(float));
    halves(n, n, p[k], b, n + k);
    printf("halves %016llx %016llx\n", (unsigned long long)example_hash(p[k], all * sizeof(float)),
           (unsigned long long)example_hash(b, (size_t)n * sizeof(float)));
  }
  return 0;
}
