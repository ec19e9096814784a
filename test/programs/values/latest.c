// Indices of the largest and smallest elements so far, by which the loop loads again what it has chosen: with NaNs, equal elements and both zeros; where the loop writes what it loads, and
// where the first index is data.
// ARGS: 70 130
// ARGS: 300 17
// ARGS: 3 1
// ARGS: 0 5
// OFFLOAD: any
// KERNELS: largest smallest two
#include "example.h"
#include <math.h>

#define KERNEL __attribute__((noinline)) static

KERNEL void largest(int n, int m, const float x[n][m], int *best) {
  for (int i = 0; i < n; i++) {
    int b = 0;
    for (int j = 1; j < m; j++)
      if (x[i][j] > x[i][b])
        b = j;
    best[i] = b;
  }
}

KERNEL void smallest(long n, long m, const double *restrict x, long *restrict best, double *restrict least) {
  for (long i = 0; i < n; i++) {
    long b = m - 1;
    for (long j = m - 2; j >= 0; j--)
      b = x[i * m + b] < x[i * m + j] ? b : j;
    best[i] = b;
    least[i] = x[i * m + b];
  }
}

/* Two indices, one of which keeps away from small elements. */
KERNEL void two(int n, int m, const float x[n][m], int *best) {
  for (int i = 0; i < n; i++) {
    int a = 0, b = 0;
    for (unsigned j = 1; j < (unsigned)m; j++) {
      if (x[i][j] >= x[i][a])
        a = j;
      if (x[i][j] < x[i][b] && x[i][j] > -0.5f)
        b = j;
    }
    best[i] = a * 1000 + b;
  }
}

/* What has been chosen is written. */
KERNEL void written(int n, int m, float x[n][m], int *best) {
  for (int i = 0; i < n; i++) {
    int b = 0;
    for (int j = 1; j < m; j++) {
      if (x[i][j] > x[i][b])
        b = j;
      x[i][b] -= 0.25f;
    }
    best[i] = b;
  }
}

KERNEL void started(int n, int m, const float x[n][m], const int *restrict from, int *restrict best) {
  for (int i = 0; i < n; i++) {
    int b = from[i];
    for (int j = 0; j < m; j++)
      if (x[i][j] > x[i][b])
        b = j;
    best[i] = b;
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 70, m = argc > 2 ? atoi(argv[2]) : 130;
  size_t all = (size_t)n * m;
  float *x = malloc((all + 1) * sizeof *x);
  double *d = malloc((all + n + 1) * sizeof *d);
  int *best = malloc((4 * (size_t)n + 1) * sizeof *best), *from = best + 3 * n;
  long *least = malloc((n + 1) * sizeof *least);
  for (size_t i = 0; i < all; ++i) {
    double v = example_uniform();
    x[i] = i % 37 == 5 ? NAN : v < -0.9 ? -0.0f : v > 0.9 ? 0.0f : (float)((int)(v * 20)) / 16;
    d[i] = i % 41 == 7 ? NAN : (int)(v * 50);
  }
  for (int i = 0; i < n; ++i)
    from[i] = i * 7 % m;
  largest(n, m, (void *)x, best);
  two(n, m, (void *)x, best + n);
  started(n, m, (void *)x, from, best + 2 * n);
  printf("chosen %016llx\n", (unsigned long long)example_hash(best, 3 * (size_t)n * sizeof *best));
  smallest(n, m, d, least, d + all);
  printf("smallest %016llx %016llx\n", (unsigned long long)example_hash(least, n * sizeof *least), (unsigned long long)example_hash(d + all, n * sizeof *d));
  written(n, m, (void *)x, best);
  printf("written %016llx\n", (unsigned long long)example_hash(best, n * sizeof *best));
  free(x), free(d), free(best), free(least);
  return 0;
}
