// Sweeps in place that also look for the largest change, or add up squares, in the same statement: whatever becomes of the norm, the sweep keeps its
// order. Until convergence, and in a given number of steps.
// ARGS: 65 33 2
// ARGS: 1 1 1
// ARGS: 100 40 3
// ARGS: 33 100 1
// OFFLOAD: yes
// KERNELS: relaxed swept summed
// FLAGS: -fno-math-errno
#include "example.h"
#include <math.h>

#define AT(i, j) ((i) * (m + 2) + (j))
#define KERNEL __attribute__((noinline)) static

KERNEL void relaxed(int n, int m, double *p, const double *b, double w, int steps, double limit) {
  for (int t = 0; t < steps; t++) {
    double change = 0;
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= m; j++) {
        double old = p[AT(i, j)];
        p[AT(i, j)] = (1 - w) * old + w * 0.25 * (p[AT(i + 1, j)] + p[AT(i - 1, j)] + p[AT(i, j + 1)] + p[AT(i, j - 1)] - b[AT(i, j)]);
        change = fmax(change, fabs(p[AT(i, j)] - old));
      }
    if (change < limit)
      break;
  }
}

KERNEL double swept(int n, int m, double *p, int *larger) {
  double most = -1;
  *larger = 0;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++) {
      double x = 0.5 * (p[AT(i, j - 1)] + p[AT(i - 1, j)]) + 0.125 * p[AT(i, j)];
      if (x > p[AT(i, j)])
        ++*larger;
      p[AT(i, j)] = x;
      most = x > most ? x : most;
    }
  return most;
}

KERNEL unsigned long summed(int n, unsigned long *a) {
  unsigned long sum = 0;
  for (int i = 1; i < n; i++) {
    a[i] = a[i] * 3 + a[i - 1];
    sum += a[i] >> 7;
  }
  return sum;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 65), m = (int)example_arg(argc, argv, 2, 33), steps = (int)example_arg(argc, argv, 3, 2), larger;
  size_t all = (size_t)(n + 2) * (m + 2);
  double *p = example_array(all), *b = example_array(all);
  unsigned long *u = malloc(all * sizeof *u);
  example_fill(p, all);
  example_fill(b, all);
  for (size_t i = 0; i < all; i++)
    u[i] = example_bits();
  relaxed(n, m, p, b, 1.5, steps, 1e-3);
  example_print("relaxed", p, all);
  double most = swept(n, m, b, &larger);
  printf("%.17g %d\n", most, larger);
  example_print("swept", b, all);
  printf("%lx ", summed((int)all, u));
  printf("%llx\n", (unsigned long long)example_hash(u, all * sizeof *u));
  return 0;
}
