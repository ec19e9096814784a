/* A product of matrices. */
#include "common.h"

static __attribute__((noinline)) void compute(long n, real (*restrict c)[n], real (*restrict a)[n], real (*restrict b)[n]) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      real s = c[i][j];
      for (long k = 0; k < n; k++)
        s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
}

int main(int argc, char **argv) {
  long n = argument(argc, argv, 1, 500);
  real *a = array(n * n, 7), *b = array(n * n, 8), *c = array(n * n, 9);
  for (long left = calls(); left > 0; left--) {
    begin();
    compute(n, (void *)c, (void *)a, (void *)b);
    end();
  }
  add(c, n * n);
  report();
  return 0;
}
