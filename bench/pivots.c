/* Decompositions whose program looks at elements of the matrix in each step: LU with partial pivoting, Gauss-Jordan with row exchanges, Householder QR.
 *
 *   pollyrs cc -O3 -ffp-contract=off bench/pivots.c -o pivots -lm
 *   POLLYRS_RT_OFFLOAD=always ./pivots lu|gj|qr N [CALLS]        a checksum, and seconds of each call
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

__attribute__((noinline)) static void lu(int n, double *restrict a, int *restrict pivots) {
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[p * n + k]))
        p = i;
    pivots[k] = p;
    if (p != k)
      for (int j = 0; j < n; j++) {
        double t = a[k * n + j];
        a[k * n + j] = a[p * n + j];
        a[p * n + j] = t;
      }
    if (a[k * n + k] == 0)
      return;
    for (int i = k + 1; i < n; i++)
      a[i * n + k] /= a[k * n + k];
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
  }
}

__attribute__((noinline)) static void gauss_jordan(int n, double *restrict a, double *restrict b) {
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[p * n + k]))
        p = i;
    for (int j = 0; j < n; j++) {
      double t = a[k * n + j];
      a[k * n + j] = a[p * n + j];
      a[p * n + j] = t;
    }
    double t = b[k];
    b[k] = b[p];
    b[p] = t;
    double d = a[k * n + k];
    for (int j = k; j < n; j++)
      a[k * n + j] /= d;
    b[k] /= d;
    for (int i = 0; i < n; i++)
      if (i != k) {
        double f = a[i * n + k];
        for (int j = k; j < n; j++)
          a[i * n + j] -= f * a[k * n + j];
        b[i] -= f * b[k];
      }
  }
}

__attribute__((noinline)) static void householder(int m, int n, double *restrict a, double *restrict diagonal) {
  for (int k = 0; k < n; k++) {
    double norm = 0;
    for (int i = k; i < m; i++)
      norm += a[i * n + k] * a[i * n + k];
    norm = a[k * n + k] > 0 ? -sqrt(norm) : sqrt(norm);
    diagonal[k] = norm;
    if (norm == 0)
      continue;
    for (int i = k; i < m; i++)
      a[i * n + k] /= -norm;
    a[k * n + k] += 1;
    for (int j = k + 1; j < n; j++) {
      double s = 0;
      for (int i = k; i < m; i++)
        s += a[i * n + k] * a[i * n + j];
      s = -s / a[k * n + k];
      for (int i = k; i < m; i++)
        a[i * n + j] += s * a[i * n + k];
    }
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv) {
  const char *method = argc > 1 ? argv[1] : "lu";
  int n = argc > 2 ? atoi(argv[2]) : 200, calls = argc > 3 ? atoi(argv[3]) : 3, m = n + 3;
  double *a = malloc(sizeof *a * m * n), *b = malloc(sizeof *b * m);
  int *pivots = calloc(m, sizeof *pivots);
  for (int call = 0; call < calls; call++) {
    unsigned state = 1;
    for (int i = 0; i < m * n; i++) {
      state = state * 1664525u + 1013904223u;
      a[i] = (double)(state >> 8) / (1 << 24) - 0.5;
    }
    for (int i = 0; i < m; i++)
      b[i] = i % 7 - 2.5;
    double start = now();
    if (!strcmp(method, "lu"))
      lu(n, a, pivots);
    else if (!strcmp(method, "gj"))
      gauss_jordan(n, a, b);
    else
      householder(m, n, a, b);
    double seconds = now() - start, sum = 0;
    for (int i = 0; i < m * n; i++)
      sum = sum * 0.999 + a[i];
    for (int i = 0; i < m; i++)
      sum += b[i] + 1e-3 * i * pivots[i];
    printf("%s %d: %.17g, %.3f s\n", method, n, sum, seconds);
  }
  free(a);
  free(b);
  free(pivots);
}
