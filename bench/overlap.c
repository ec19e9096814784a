/* Programs whose transfers take about as long as their kernels: how much of both happens at once.
 *
 *   overlap [MB]              default: 256, of each large array
 *
 * Compile with the driver and run on a machine with a GPU, once as it is and once with POLLYRS_RT_OVERLAP=off; POLLYRS_RT_OFFLOAD=always.
 * Milliseconds of an execution from ordinary memory to ordinary memory, median of 5 after a warm-up:
 *   map      b[i] = f(a[i])                  both in slices
 *   stencil  b = four neighbours of a         the same in two dimensions, f repeated
 *   rows     y[i] = sum of a row of a        a in slices, y small
 *   matmul   c = a * b                       all of b first, a and c in slices
 *   two      b = f(a), then d = f(c)         two launches: c on its way while the first one runs */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS 5

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

__attribute__((noinline)) static void map(long n, int steps, float *restrict b, const float *restrict a) {
  for (long i = 0; i < n; i++) {
    float x = a[i];
    for (int s = 0; s < steps; s++)
      x = x * (1.5f - 0.25f * x);
    b[i] = x;
  }
}
__attribute__((noinline)) static void stencil(long n, int steps, float b[restrict n][n], float a[restrict n][n]) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      float x = a[i][j] + (i > 0 ? a[i - 1][j] : 0) + (i < n - 1 ? a[i + 1][j] : 0);
      x *= 0.25f;
      for (int s = 0; s < steps; s++)
        x = x * (1.5f - 0.25f * x);
      b[i][j] = x;
    }
}
__attribute__((noinline)) static void rows(long n, long m, float *restrict y, float a[restrict n][m]) {
  for (long i = 0; i < n; i++) {
    float s = 0;
    for (long j = 0; j < m; j++)
      s += a[i][j];
    y[i] = s;
  }
}
__attribute__((noinline)) static void matmul(long n, float c[restrict n][n], float a[restrict n][n], float b[restrict n][n]) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      float s = 0;
      for (long k = 0; k < n; k++)
        s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
}
__attribute__((noinline)) static void two(long n, int steps, float *restrict b, const float *restrict a, float *restrict d,
                                          const float *restrict c) {
  for (long i = 0; i < n; i++) {
    float x = a[i];
    for (int s = 0; s < steps; s++)
      x = x * (1.5f - 0.25f * x);
    b[i] = x;
  }
  for (long i = 0; i < n; i++) {
    float x = c[i] + b[n - 1 - i];
    for (int s = 0; s < steps; s++)
      x = x * (1.5f - 0.25f * x);
    d[i] = x;
  }
}

static unsigned long sum(const float *a, long n) {
  unsigned long h = 0;
  for (long i = 0; i < n; i++) {
    unsigned u;
    memcpy(&u, a + i, 4);
    h = h * 31 + u;
  }
  return h;
}

int main(int argc, char **argv) {
  long n = (argc > 1 ? atol(argv[1]) : 256) * 1000000 / 4, side = 1;
  while ((side + 32) * (side + 32) <= n)
    side += 31;
  float *a = malloc(n * 4), *b = malloc(n * 4), *c = malloc(n * 4), *d = malloc(n * 4);
  for (long i = 0; i < n; i++) {
    a[i] = (float)(i * 7919 % 1013) / 1013, c[i] = (float)(i * 104729 % 997) / 997;
    b[i] = d[i] = 0;
  }
  const char *names[] = {"map", "stencil", "rows", "matmul", "two"};
  for (int p = 0; p < 5; p++) {
    double times[RUNS];
    unsigned long result = 0;
    for (int r = -2; r < RUNS; r++) {
      a[r + 2] += 0.125f;
      double start = now();
      switch (p) {
      case 0: map(n, 2000, b, a); break;
      case 1: stencil(side, 2000, (void *)b, (void *)a); break;
      case 2: rows(side, side, d, (void *)a); break;
      case 3: matmul(side, (void *)d, (void *)a, (void *)c); break;
      default: two(n, 1000, b, a, d, c);
      }
      if (r >= 0)
        times[r] = now() - start;
      if (r == RUNS - 1)
        result = sum(b, n) ^ sum(d, n);
    }
    qsort(times, RUNS, sizeof *times, ascending);
    printf("%-8s %9.3f ms  %016lx\n", names[p], times[RUNS / 2] * 1e3, result);
    fflush(stdout);
  }
  return 0;
}
