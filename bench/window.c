/* Columns of a large matrix in ordinary memory: what an execution costs that touches some of them, and the bytes that these are.
 *
 *   window [n]        n x n doubles, 4096 by default
 *
 * Compile with the driver; POLLYRS_RT_OFFLOAD=always. A profile (POLLYRS_RT_PROFILE) tells what moved. Each figure is the median of 9
 * executions after two; between them the host adds to the matrix. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS 9

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

__attribute__((noinline)) static void scale(long n, long from, long to, double (*A)[n]) {
  for (long i = 0; i < n; i++)
    for (long j = from; j < to; j++)
      A[i][j] = 0.5 * A[i][j] + 1;
}

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 4096, wrong = 0;
  double(*A)[n] = malloc(sizeof(double[n][n])), (*B)[n] = malloc(sizeof(double[n][n]));
  if (!A || !B)
    return 2;
  for (long i = 0; i < n * n; i++)
    A[0][i] = (double)(i * 7919 % 1013);
  memcpy(B, A, sizeof(double[n][n]));
  printf("%8s %12s %12s\n", "columns", "MB", "ms");
  static const long widths[] = {1, 8, 64, 256, 512, 1024, 2048, 4096};
  for (unsigned w = 0; w < sizeof widths / sizeof *widths && widths[w] <= n; w++) {
    long width = widths[w], from = (n - width) / 2, to = from + width;
    double times[RUNS];
    for (int r = -2; r < RUNS; r++) {
      double start = now();
      scale(n, from, to, A);
      if (r >= 0)
        times[r] = now() - start;
      A[n / 2][from] += 1;
    }
    for (long i = 0; i < n; i++)
      for (long j = from; j < to; j++)
        for (int r = -2; r < RUNS; r++) {
          B[i][j] = 0.5 * B[i][j] + 1;
          B[i][j] += i == n / 2 && j == from;
        }
    wrong += memcmp(A, B, sizeof(double[n][n])) != 0;
    qsort(times, RUNS, sizeof *times, ascending);
    printf("%8ld %12.3f %12.3f%s\n", width, n * width * 8 / 1e6, times[RUNS / 2] * 1e3, wrong ? "  WRONG" : "");
  }
  free(A), free(B);
  return wrong != 0;
}
