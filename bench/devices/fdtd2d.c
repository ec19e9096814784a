/* Two electric fields and a magnetic one, each made from the others. */
#include "common.h"

static __attribute__((noinline)) void compute(long n, long steps, real (*restrict ex)[n], real (*restrict ey)[n], real (*restrict hz)[n]) {
  for (long t = 0; t < steps; t++) {
    for (long i = 1; i < n; i++)
      for (long j = 0; j < n; j++)
        ey[i][j] = ey[i][j] - (real)0.5 * (hz[i][j] - hz[i - 1][j]);
    for (long i = 0; i < n; i++)
      for (long j = 1; j < n; j++)
        ex[i][j] = ex[i][j] - (real)0.5 * (hz[i][j] - hz[i][j - 1]);
    for (long i = 0; i < n - 1; i++)
      for (long j = 0; j < n - 1; j++)
        hz[i][j] = hz[i][j] - (real)0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}

int main(int argc, char **argv) {
  long n = argument(argc, argv, 1, 1000), steps = argument(argc, argv, 2, 20);
  real *ex = array(n * n, 4), *ey = array(n * n, 5), *hz = array(n * n, 6);
  for (long left = calls(); left > 0; left--) {
    begin();
    compute(n, steps, (void *)ex, (void *)ey, (void *)hz);
    end();
  }
  add(hz, n * n);
  add(ex, n * n);
  add(ey, n * n);
  report();
  return 0;
}
