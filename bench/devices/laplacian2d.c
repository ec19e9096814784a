/* A five-point stencil on a square, in place of two arrays in turn. */
#include "common.h"

static __attribute__((noinline)) void compute(long n, long steps, real (*restrict a)[n], real (*restrict b)[n]) {
  for (long t = 0; t < steps / 2; t++) {
    for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < n - 1; j++)
        b[i][j] = (real)0.2 * (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < n - 1; j++)
        a[i][j] = (real)0.2 * (b[i][j] + b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1]);
  }
}

int main(int argc, char **argv) {
  long n = argument(argc, argv, 1, 1000), steps = argument(argc, argv, 2, 20);
  real *a = array(n * n, 1), *b = malloc(n * n * sizeof(real));
  memcpy(b, a, n * n * sizeof(real));
  for (long left = calls(); left > 0; left--) {
    begin();
    compute(n, steps, (void *)a, (void *)b);
    end();
  }
  add(a, n * n);
  report();
  return 0;
}
