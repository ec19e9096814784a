// Functions that may set errno in steps that are fused: nothing, ERANGE in some step, and what only the original loop can set; where only points that a launch computes besides would, nothing is set.
// ARGS: 5 40 0
// ARGS: 5 40 1
// ARGS: 5 40 2
// ARGS: 5 40 3
// ARGS: 0 9 1
// ARGS: 2 9 0
// OFFLOAD: partial
#include "example.h"
#include <errno.h>
#include <math.h>

#define KERNEL __attribute__((noinline)) static

KERNEL void conducted(int steps, int n, double kappa, double *a, double *b) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j) {
        int p = i * n + j;
        double x = a[p - 1] - a[p], y = a[p + 1] - a[p], z = a[p - n] - a[p], w = a[p + n] - a[p];
        b[p] = a[p] + 0.2 * (x * exp(-kappa * x * x) + y * exp(-kappa * y * y) + z * exp(-kappa * z * z) + w * exp(-kappa * w * w));
      }
    double *c = a;
    a = b;
    b = c;
  }
}

/* A root of a sum that the border makes negative where `low` is. */
KERNEL void rooted(int steps, int n, double a[2][n][n], double low) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        a[(t + 1) % 2][i][j] = sqrt(0.25 * (a[t % 2][i - 1][j] + a[t % 2][i + 1][j] + a[t % 2][i][j - 1] + a[t % 2][i][j + 1]) + low);
}

/* Along a line, where all blocks have values beside their own. */
KERNEL void powers(int steps, int n, double *a, double *b, double power) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      b[i] = 0.5 + 0.25 * pow(fabs(a[i - 1] + a[i + 1]), power);
    double *c = a;
    a = b;
    b = c;
  }
}

static const char *name(int error) { return error == EDOM ? "EDOM" : error == ERANGE ? "ERANGE" : error ? "another" : "0"; }

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5), n = (int)example_arg(argc, argv, 2, 40), what = (int)example_arg(argc, argv, 3, 0);
  size_t count = (size_t)n * n;
  double *A = example_array(2 * count), *B = example_array(count);
  example_fill(A, 2 * count);
  example_fill(B, count);
  for (size_t i = 0; i < 2 * count; ++i)
    A[i] = fabs(A[i]);
  errno = 0;
  conducted(steps, n, what == 1 ? 1e8 : what == 2 ? 1e-3 : 0.1, A, B);
  printf("errno %s\n", name(errno));
  example_print("A", A, count);
  example_print("B", B, count);
  errno = 0;
  rooted(steps, n, (void *)A, what == 3 ? -0.3 : 0.0);
  printf("errno %s\n", name(errno));
  for (size_t i = 0; i < 2 * count; ++i)
    if (A[i] != A[i])
      A[i] = 4.0;
  example_print("A", A, 2 * count);
  errno = 0;
  powers(steps, (int)count, A, B, what == 2 ? 2000.0 : 1.5);
  printf("errno %s\n", name(errno));
  for (size_t i = 0; i < count; ++i)
    A[i] = isfinite(A[i]) ? A[i] : 1.0;
  example_print("A", A, count);
  return 0;
}
