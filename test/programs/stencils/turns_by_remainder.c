// Arrays that are chosen by whether the step is even: pointers selected by a remainder, from a start of either parity that only the caller knows, counters by one and by three, two pairs of arrays.
// ARGS: 5 13 0
// ARGS: 6 12 1
// ARGS: 0 9 0
// ARGS: 1 9 3
// ARGS: 12 33 2
// OFFLOAD: yes
// KERNELS: from_zero from_any by_three two_pairs flat
#include "example.h"

#define KERNEL __attribute__((noinline)) static
#define SWEEP(to, from)                                                                                                              \
  for (int i = 1; i < n - 1; ++i)                                                                                                    \
    for (int j = 1; j < n - 1; ++j)                                                                                                  \
      to[i][j] = 0.4 * from[i][j] + 0.15 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);

KERNEL void from_zero(int steps, int n, double a[n][n], double b[n][n]) {
  for (int t = 0; t < steps; ++t) {
    double(*from)[n] = t % 2 ? b : a, (*to)[n] = t % 2 ? a : b;
    SWEEP(to, from)
  }
}

KERNEL void from_any(int begin, int steps, int n, double a[n][n], double b[n][n]) {
  for (int t = begin; t < begin + steps; ++t) {
    double(*from)[n] = (t + 1) % 2 == 0 ? b : a, (*to)[n] = (t & 1) != 0 ? a : b;
    SWEEP(to, from)
  }
}

/* In every third step of a time that runs on. */
KERNEL void by_three(int begin, int steps, int n, double a[n][n], double b[n][n]) {
  for (int t = begin; t < begin + 3 * steps; t += 3) {
    double(*from)[n] = t % 2 == 0 ? a : b, (*to)[n] = t % 2 == 0 ? b : a;
    SWEEP(to, from)
  }
}

KERNEL void two_pairs(int steps, int n, double a[n][n], double b[n][n], double c[n][n], double d[n][n]) {
  for (int t = 1; t <= steps; ++t) {
    double(*u)[n] = t % 2 ? a : b, (*v)[n] = t % 2 ? b : a, (*p)[n] = t % 2 ? c : d, (*q)[n] = t % 2 ? d : c;
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j) {
        v[i][j] = 0.5 * u[i][j] + 0.25 * (p[i][j - 1] + p[i][j + 1]);
        q[i][j] = 0.5 * p[i][j] + 0.25 * (u[i - 1][j] + u[i + 1][j]);
      }
  }
}

/* A step of two makes no turns: one array all the time. */
KERNEL void flat(int steps, int n, double a[n][n], double b[n][n]) {
  for (int t = 0; t < steps; t += 2) {
    double(*from)[n] = t % 2 ? b : a, (*to)[n] = t % 2 ? a : b;
    SWEEP(to, from)
  }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5), n = (int)example_arg(argc, argv, 2, 13), begin = (int)example_arg(argc, argv, 3, 0);
  size_t count = (size_t)n * n;
  double *A[4];
  for (int i = 0; i < 4; ++i) {
    A[i] = example_array(count);
    example_fill(A[i], count);
  }
#define P(i) ((void *)A[i])
  from_zero(steps, n, P(0), P(1));
  from_any(begin, steps, n, P(0), P(1));
  by_three(begin, steps, n, P(1), P(2));
  two_pairs(steps, n, P(0), P(1), P(2), P(3));
  flat(steps, n, P(0), P(3));
  for (int i = 0; i < 4; ++i)
    example_print("A", A[i], count);
  return 0;
}
