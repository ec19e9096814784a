/* Nothing but memory and the links. */
#include "common.h"

static __attribute__((noinline)) void compute(long n, real *restrict a, const real *restrict b, const real *restrict c) {
  for (long i = 0; i < n; i++)
    a[i] = b[i] + (real)3 * c[i];
}

int main(int argc, char **argv) {
  long n = argument(argc, argv, 1, 1000000);
  real *a = array(n, 10), *b = array(n, 11), *c = array(n, 12);
  for (long left = calls(); left > 0; left--) {
    begin();
    compute(n, a, b, c);
    end();
  }
  add(a, n);
  report();
  return 0;
}
