// Quotients of complex numbers by the compiler's own library (__divdc3, __divsc3): of a loop on the device, and of one that stays, whose last bits are
// those of the plain program as well.
// ARGS: 33
// ARGS: 1
// ARGS: 1000
// OFFLOAD: any
// KERNELS: scaled
#include "example.h"
#include <complex.h>

typedef double _Complex wide;
typedef float _Complex narrow;

// Each quotient needs the one before.
__attribute__((noinline)) static wide chain(int n, const wide *a) {
  wide x = 1;
  for (int i = 0; i < n; ++i)
    x = a[i] / (x + a[n - 1 - i]);
  return x;
}

__attribute__((noinline)) static narrow narrow_chain(int n, const narrow *a) {
  narrow x = 1;
  for (int i = 0; i < n; ++i)
    x = a[i] / (x + a[n - 1 - i]);
  return x;
}

__attribute__((noinline)) static void quotients(int n, wide *a, const wide *b) {
  for (int i = 0; i < n; ++i)
    a[i] /= b[i];
}

__attribute__((noinline)) static void scaled(int n, wide *a, double by) {
  for (int i = 0; i < n; ++i)
    a[i] *= by;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 33;
  wide *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  narrow *c = malloc(n * sizeof *c);
  TYPE *parts = example_array(4 * n);
  example_seed(n);
  example_fill(parts, 4 * n);
  for (int i = 0; i < n; ++i) {
    a[i] = parts[4 * i] + parts[4 * i + 1] * I;
    b[i] = parts[4 * i + 2] + parts[4 * i + 3] * I;
    c[i] = (float)parts[4 * i] + (float)parts[4 * i + 3] * I;
  }
  quotients(n, a, b);
  scaled(n, a, 0.75);
  wide x = chain(n, a);
  narrow y = narrow_chain(n, c);
  printf("%.17g %.17g %.9g %.9g\n", creal(x), cimag(x), crealf(y), cimagf(y));
  for (int i = 0; i < n; ++i)
    printf("%.17g %.17g\n", creal(a[i]), cimag(a[i]));
  return 0;
}
