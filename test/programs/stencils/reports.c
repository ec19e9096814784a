// Time loops that print, check or save something in every so many steps: the steps between are fused. Intervals that are numbers, arguments (of either sign), and powers of two; counters of
// several kinds; in the middle and at the end of a step; loops that end there.
// ARGS: 23 40 7
// ARGS: 0 9 3
// ARGS: 1 12 1
// ARGS: 41 33 10
// ARGS: 6 20 100
// OFFLOAD: yes
// KERNELS: exchanged until masked downwards
#include "example.h"
#include <math.h>

#define KERNEL __attribute__((noinline)) static
#define SWEEP(to, from, n)                                                                                                                                    \
  for (int i = 1; i < n - 1; ++i)                                                                                                                              \
    for (int j = 1; j < n - 1; ++j)                                                                                                                            \
      to[i * n + j] = 0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] + from[i * n + j + 1]);

KERNEL double *exchanged(int steps, int n, double *u, double *v) {
  for (int t = 1; t <= steps; ++t) {
    SWEEP(v, u, n)
    double *w = u;
    u = v;
    v = w;
    if (t % 10 == 0)
      printf("%d %.17g\n", t, u[n * n / 2]);
  }
  return u;
}

/* An interval that is an argument, and an end. */
KERNEL int until(int steps, int n, int every, double *u, double *v, double limit) {
  int t;
  for (t = 0; t < steps; ++t) {
    SWEEP(v, u, n)
    if ((t + 1) % every == 0) {
      double most = 0;
      for (int i = 0; i < n * n; ++i)
        most = fmax(most, fabs(u[i] - v[i]));
      printf("%d %.17g\n", t, most);
      if (most < limit)
        break;
    }
    SWEEP(u, v, n)
  }
  return t;
}

KERNEL long masked(long steps, int n, double *u, double *v) {
  long seen = 0;
  for (unsigned long t = 0; t < (unsigned long)steps; ++t) {
    if ((t & 7) == 5) {
      printf("%lu %.17g\n", t, v[n + 1]);
      seen += (long)t;
    }
    SWEEP(v, u, n)
    SWEEP(u, v, n)
  }
  return seen;
}

/* The last one of each interval; a counter that goes down beside the one that is looked at. */
KERNEL int downwards(int steps, int n, int every, double *u, double *v) {
  int left = steps;
  for (int t = 0; t < steps; ++t, left -= 2) {
    SWEEP(v, u, n)
    SWEEP(u, v, n)
    if (every > 0 && t % every == every - 1)
      printf("%d %d\n", t, left);
  }
  return left;
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 23), n = (int)example_arg(argc, argv, 2, 40), every = (int)example_arg(argc, argv, 3, 7);
  size_t count = (size_t)n * n;
  double *u = malloc(count * sizeof *u), *v = malloc(count * sizeof *v);
  for (size_t k = 0; k < count; ++k)
    u[k] = v[k] = example_uniform();
  printf("%.17g\n", exchanged(steps, n, u, v)[n + 1]);
  printf("%d\n", until(steps, n, steps % 2 ? -every : every, u, v, 0.004));
  printf("%ld\n", masked(steps, n, u, v));
  printf("%d\n", downwards(steps, n, every, u, v));
  printf("%016llx %016llx\n", (unsigned long long)example_hash(u, count * sizeof *u), (unsigned long long)example_hash(v, count * sizeof *v));
  return 0;
}
