/* Forces of all bodies on each, and their steps. */
#include "common.h"

static __attribute__((noinline)) void compute(long n, long steps, real *restrict x, real *restrict y, real *restrict z, real *restrict u, real *restrict v,
                    real *restrict w, const real *restrict m) {
  for (long t = 0; t < steps; t++) {
    for (long i = 0; i < n; i++) {
      real fx = 0, fy = 0, fz = 0;
      for (long j = 0; j < n; j++) {
        real dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
        real r = dx * dx + dy * dy + dz * dz + (real)0.01;
        real s = m[j] / (r * sqrtf(r));
        fx += s * dx;
        fy += s * dy;
        fz += s * dz;
      }
      u[i] += (real)0.001 * fx;
      v[i] += (real)0.001 * fy;
      w[i] += (real)0.001 * fz;
    }
    for (long i = 0; i < n; i++) {
      x[i] += (real)0.001 * u[i];
      y[i] += (real)0.001 * v[i];
      z[i] += (real)0.001 * w[i];
    }
  }
}

int main(int argc, char **argv) {
  long n = argument(argc, argv, 1, 1000), steps = argument(argc, argv, 2, 3);
  real *x = array(n, 13), *y = array(n, 14), *z = array(n, 15), *u = array(n, 16), *v = array(n, 17), *w = array(n, 18), *m = array(n, 19);
  for (long left = calls(); left > 0; left--) {
    begin();
    compute(n, steps, x, y, z, u, v, w, m);
    end();
  }
  add(x, n);
  add(y, n);
  add(z, n);
  report();
  return 0;
}
