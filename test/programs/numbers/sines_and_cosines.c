// Sines and cosines that one call of the C library computes together, of floats and doubles, into variables and into arrays; one of them may stay unused.
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
  return 0;
}
