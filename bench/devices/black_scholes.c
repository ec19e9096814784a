/* Prices of options, each by itself. */
#include "common.h"

static __attribute__((noinline)) void compute(long n, long rounds, real *restrict call, real *restrict put, const real *restrict price, const real *restrict strike,
                    const real *restrict years) {
  for (long t = 0; t < rounds; t++)
    for (long i = 0; i < n; i++) {
      real root = sqrtf(years[i]);
      real d1 = (logf(price[i] / strike[i]) + (real)(0.02 + 0.045) * years[i]) / ((real)0.3 * root);
      real d2 = d1 - (real)0.3 * root;
      real c1 = (real)0.5 * erfcf(-d1 * (real)0.70710678), c2 = (real)0.5 * erfcf(-d2 * (real)0.70710678);
      real later = strike[i] * expf((real)-0.02 * years[i]);
      call[i] = call[i] * (real)0.5 + price[i] * c1 - later * c2;
      put[i] = put[i] * (real)0.5 + later * (1 - c2) - price[i] * (1 - c1);
    }
}

int main(int argc, char **argv) {
  long n = argument(argc, argv, 1, 1000000), rounds = argument(argc, argv, 2, 4);
  real *call = array(n, 20), *put = array(n, 21), *price = array(n, 22), *strike = array(n, 23), *years = array(n, 24);
  for (long left = calls(); left > 0; left--) {
    begin();
    compute(n, rounds, call, put, price, strike, years);
    end();
  }
  add(call, n);
  add(put, n);
  report();
  return 0;
}
