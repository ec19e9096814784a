// Sines and cosines that one call of the C library computes together, of floats and doubles, into variables, arrays and places that may be one; one of them may stay unused.
// ARGS: 0
// ARGS: 1
// ARGS: 1000
// FLAGS: -D_GNU_SOURCE
// OFFLOAD: yes
#include "example.h"
#include <math.h>

__attribute__((noinline)) static void rotate(int n, const float *angle, float *x, float *y) {
  for (int i = 0; i < n; i++) {
    float s, c;
    sincosf(angle[i], &s, &c);
    float u = c * x[i] - s * y[i];
    y[i] = s * x[i] + c * y[i];
    x[i] = u;
  }
}

__attribute__((noinline)) static void table(int n, double step, double *restrict sines, double *restrict cosines) {
  for (int i = 0; i < n; i++)
    sincos(i * step, &sines[i], &cosines[i]);
}

__attribute__((noinline)) static void only_sine(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) {
    double s, c;
    sincos(x[i], &s, &c);
    y[i] = s * 2;
  }
}

// The two results beside each other, and in places that may be one: there the library's order decides, on the host.
__attribute__((noinline)) static void beside(int n, const double *restrict x, double *restrict z) {
  for (int i = 0; i < n; i++)
    sincos(x[i], &z[2 * i], &z[2 * i + 1]);
}

__attribute__((noinline)) static void apart_by(int n, int distance, const double *restrict x, double *restrict z) {
  for (int i = 0; i < n; i++)
    sincos(x[i], &z[i], &z[i + distance]);
}

__attribute__((noinline)) static void into(int n, const double *x, double *sines, double *cosines) {
  for (int i = 0; i < n; i++)
    sincos(x[i], &sines[i], &cosines[i]);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1000);
  float *angle = malloc((n + 1) * sizeof *angle), *x = malloc((n + 1) * sizeof *x), *y = malloc((n + 1) * sizeof *y);
  double *s = calloc(n + 1, sizeof *s), *c = calloc(n + 1, sizeof *c);
  for (int i = 0; i < n; i++) {
    angle[i] = (float)(20 * example_uniform());
    x[i] = (float)example_uniform();
    y[i] = (float)example_uniform();
  }
  rotate(n, angle, x, y);
  printf("%016llx %016llx\n", (unsigned long long)example_hash(x, n * sizeof *x), (unsigned long long)example_hash(y, n * sizeof *y));
  table(n, 0.37, s, c);
  printf("%016llx %016llx\n", (unsigned long long)example_hash(s, n * sizeof *s), (unsigned long long)example_hash(c, n * sizeof *c));
  only_sine(n, s, c);
  printf("%016llx\n", (unsigned long long)example_hash(c, n * sizeof *c));
  double *z = calloc(2 * n + 2, sizeof *z), *angles = calloc(n + 1, sizeof *angles);
  // (Which result stays in one place differs between small and large arguments.)
  for (int i = 0; i < n; i++)
    angles[i] = 60 * example_uniform();
  beside(n, s, z);
  printf("%016llx\n", (unsigned long long)example_hash(z, 2 * n * sizeof *z));
  for (int distance = 0; distance < 2; distance++) {
    apart_by(n, distance, s, z);
    into(n, angles, z, z + distance);
    printf("%016llx\n", (unsigned long long)example_hash(z, 2 * n * sizeof *z));
  }
  return 0;
}
