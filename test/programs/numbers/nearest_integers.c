// lround and its like: ties, numbers next to ties, and (where the result is open) what is no integer of the type; nothing in errno.
// ARGS: 1000
// ARGS: 0
// ARGS: 1
// ARGS: 1000 1
// OFFLOAD: yes
// KERNELS: doubles floats
#include "example.h"
#include <errno.h>
#include <math.h>

__attribute__((noinline)) static void doubles(int n, const double *restrict x, long *restrict a, int *restrict b, long long *restrict c) {
  for (int i = 0; i < n; i++) {
    a[i] = lround(x[i]);
    b[i] = (int)lrint(x[i]);
    c[i] = llround(x[i] * 0.5) * 3 + llrint(x[i] * 0.5);
  }
}

__attribute__((noinline)) static void floats(int n, const float *restrict x, long *restrict a, int *restrict b, long long *restrict c) {
  for (int i = 0; i < n; i++) {
    a[i] = lroundf(x[i]);
    b[i] = (int)lrintf(x[i]);
    c[i] = llroundf(x[i] * 0.5f) * 3 + llrintf(x[i] * 0.5f);
  }
}

static void show(int n, const long *a, const int *b, const long long *c) {
  printf("errno %d\n", errno);
  for (int i = 0; i < n; i++)
    printf("%ld %d %lld\n", a[i], b[i], c[i]);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1000), beyond = (int)example_arg(argc, argv, 2, 0);
  static const double ends[] = {0.49999999999999994, -0.49999999999999994, 0.49999997, -0.49999997, 4503599627370495.5, 4503599627370497.0,
                                8388607.5,           8388609.0,            -2.5,       -0.0,        0x1p62,             2147483648.5};
  static const double others[] = {NAN, -INFINITY, INFINITY, 0x1p63, -0x1p63, 1e300, -1e30};
  double *x = example_array(n), *r = example_array(n);
  float *y = malloc(n * sizeof *y + 1);
  long *a = malloc(n * sizeof *a + 1);
  int *b = malloc(n * sizeof *b + 1);
  long long *c = malloc(n * sizeof *c + 1);
  example_fill(r, n);
  for (int i = 0; i < n; i++) {
    x[i] = i < 12 && i + 1 < n ? ends[i] : rint(r[i] * 4000) / 4;
    if (beyond && i >= 20 && i < 27)
      x[i] = others[i - 20];
    y[i] = (float)x[i];
  }
  errno = 0;
  doubles(n, x, a, b, c);
  show(n, a, b, c);
  floats(n, y, a, b, c);
  show(n, a, b, c);
  free(x);
  free(r);
  free(y);
  free(a);
  free(b);
  free(c);
  return 0;
}
