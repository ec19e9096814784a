/* A seven-point stencil on a cube. */
#include "common.h"

static __attribute__((noinline)) void compute(long n, long steps, real (*restrict a)[n][n], real (*restrict b)[n][n]) {
  for (long t = 0; t < steps / 2; t++) {
    for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < n - 1; j++)
        for (long k = 1; k < n - 1; k++)
          b[i][j][k] = (real)0.4 * a[i][j][k] + (real)0.1 * (a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k] +
                                                             a[i][j][k - 1] + a[i][j][k + 1]);
    for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < n - 1; j++)
        for (long k = 1; k < n - 1; k++)
          a[i][j][k] = (real)0.4 * b[i][j][k] + (real)0.1 * (b[i - 1][j][k] + b[i + 1][j][k] + b[i][j - 1][k] + b[i][j + 1][k] +
                                                             b[i][j][k - 1] + b[i][j][k + 1]);
  }
}

int main(int argc, char **argv) {
  long n = argument(argc, argv, 1, 100), steps = argument(argc, argv, 2, 20);
  real *a = array(n * n * n, 3), *b = malloc(n * n * n * sizeof(real));
  memcpy(b, a, n * n * n * sizeof(real));
  for (long left = calls(); left > 0; left--) {
    begin();
    compute(n, steps, (void *)a, (void *)b);
    end();
  }
  add(a, n * n * n);
  report();
  return 0;
}
