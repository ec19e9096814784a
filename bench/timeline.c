/* Conjugate gradients for the five-point Laplacian on n x n points: the program of docs/images/timeline.svg. On a GPU:
 *
 *   pollyrs cc -O3 bench/timeline.c -o cg && POLLYRS_RT_OFFLOAD=always pollyrs profile -o timeline.svg ./cg 6000 200
 */
#include <stdio.h>
#include <stdlib.h>

static double dot(long n, const double *a, const double *b) {
#pragma clang fp reassociate(on)
  double sum = 0;
  for (long i = 0; i < n * n; i++)
    sum += a[i] * b[i];
  return sum;
}

static void apply(long n, double q[restrict n][n], const double p[n][n]) {
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < n - 1; j++)
      q[i][j] = 4 * p[i][j] - p[i - 1][j] - p[i + 1][j] - p[i][j - 1] - p[i][j + 1];
}

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 4000, steps = argc > 2 ? atol(argv[2]) : 20;
  double *x = calloc(n * n, 8), *r = calloc(n * n, 8), *p = calloc(n * n, 8), *q = calloc(n * n, 8);
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < n - 1; j++)
      p[i * n + j] = r[i * n + j] = rand() / (RAND_MAX + 1.0);
  double rr = dot(n, r, r);
  for (long k = 0; k < steps; k++) {
    apply(n, (void *)q, (void *)p);
    double alpha = rr / dot(n, p, q);
    for (long i = 0; i < n * n; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    double next = dot(n, r, r), beta = next / rr;
    for (long i = 0; i < n * n; i++)
      p[i] = r[i] + beta * p[i];
    rr = next;
  }
  printf("%.6e %g\n", rr, x[n*n/2]);
  free(x); free(r); free(p); free(q);
}
