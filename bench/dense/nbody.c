/* Accelerations of all pairs of bodies, softened, inverse fourth power, structure of arrays.
 * nbody [N] */
#include "unseen.h"

__attribute__((noinline)) static void kernel(int n, TYPE *restrict ax, TYPE *restrict ay, TYPE *restrict az, const TYPE *restrict x,
                                             const TYPE *restrict y, const TYPE *restrict z, const TYPE *restrict m) {
  for (int i = 0; i < n; ++i) {
    TYPE sx = 0, sy = 0, sz = 0;
    for (int j = 0; j < n; ++j) {
      TYPE dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      TYPE d = dx * dx + dy * dy + dz * dz + (TYPE)0.5;
      TYPE f = m[j] / (d * d);
      sx += dx * f;
      sy += dy * f;
      sz += dz * f;
    }
    ax[i] = sx;
    ay[i] = sy;
    az[i] = sz;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 300);
  TYPE *a = example_array(3 * (size_t)n);
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(1);
    TYPE *x = dense_random(n), *y = dense_random(n), *z = dense_random(n), *m = dense_random(n);
    if (n) kernel(n, a, a + n, a + 2 * (size_t)n, x, y, z, m);
    free(x);
    free(y);
    free(z);
    free(m);
  }
  example_print("a", a, 3 * (size_t)n);
  return 0;
}
