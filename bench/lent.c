/* The usual main: arrays are set, a stencil runs in a time loop, results are added up, all in functions of their own that are not inlined, and
 * a line is printed every tenth step. Prints the milliseconds of four repetitions to standard error. lent N STEPS */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) static void start(int n, double *u, double *v) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      u[i * n + j] = (i * 7 + j * 3) % 11 * 0.5;
      v[i * n + j] = 0;
    }
}
__attribute__((noinline)) void step(int n, const double *restrict u, double *restrict v) {
  for (int i = 1; i < n - 1; ++i)
    for (int j = 1; j < n - 1; ++j)
      v[i * n + j] = 0.25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1]);
}
__attribute__((noinline)) static double add(double s, double x) { return s * 0.75 + x; }
__attribute__((noinline)) static double row(int n, const double *u) {
  double s = 0;
  for (int j = 0; j < n; ++j)
    s = add(s, u[n / 2 * n + j]);
  return s;
}
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
int main(int argc, char **argv) {
  if (argc < 3)
    return 1;
  int n = atoi(argv[1]), steps = atoi(argv[2]);
  double *u = malloc(sizeof(double) * n * n), *v = malloc(sizeof(double) * n * n);
  for (int r = 0; r < 4; r++) {
    double t0 = now();
    start(n, u, v);
    for (int s = 0; s < steps; ++s) {
      step(n, u, v);
      step(n, v, u);
      if (s % 10 == 9)
        printf("step %d\n", s + 1);
    }
    double sum = row(n, u);
    printf("%.17g\n", sum);
    fprintf(stderr, "%.3f ms\n", now() - t0);
  }
  free(u);
  free(v);
  return 0;
}
