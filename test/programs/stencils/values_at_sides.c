// Values that are computed under conditions of counters, with loads beside the grid where these do not hold: minima over rows, differences at both ends, two arrays; steps are fused. Conditions of
// data, and loads whose place nobody has loaded before, stay.
// ARGS: 5 40
// ARGS: 0 7
// ARGS: 7 1
// ARGS: 6 2
// ARGS: 9 300
// OFFLOAD: yes
// KERNELS: cheapest ends both unseen
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void cheapest(int rows, int n, double *wall, double *from, double *to) {
  for (int t = 0; t < rows; ++t) {
    for (int j = 0; j < n; ++j) {
      double least = from[j];
      if (j > 0 && from[j - 1] < least)
        least = from[j - 1];
      if (j < n - 1 && from[j + 1] < least)
        least = from[j + 1];
      to[j] = wall[t * n + j] + least;
    }
    double *x = from;
    from = to;
    to = x;
  }
}

KERNEL void ends(int steps, int n, double *a, double *b) {
  for (int t = 0; t < steps; ++t) {
    for (int j = 0; j < n; ++j) {
      double here = a[j], d;
      if (j == 0)
        d = n > 1 ? (a[j + 1] - here) / 3 : 0;
      else if (j == n - 1)
        d = (a[j - 1] - here) / 3;
      else
        d = (a[j - 1] + a[j + 1] - 2 * here) / 3;
      b[j] = here + d;
    }
    double *x = a;
    a = b;
    b = x;
  }
}

/* The second array's elements are as far away. */
KERNEL void both(int steps, int n, double *a, double *b, const double *k) {
  for (int t = 0; t < steps; ++t) {
    for (int j = 0; j < n; ++j) {
      double s = a[j] * k[j];
      if (j > 0)
        s += k[j - 1] * a[j - 1];
      b[j] = 0.5 * s;
    }
    for (int j = 0; j < n; ++j)
      a[j] = b[j];
  }
}

/* Nothing of `k` is loaded where `j` is 0: the place may not be there. */
KERNEL void unseen(int steps, int n, double *a, double *b, const double *k) {
  for (int t = 0; t < steps; ++t) {
    for (int j = 0; j < n; ++j) {
      double s = a[j];
      if (j > 0)
        s += 0.25 * k[j - 1];
      b[j] = 0.5 * s;
    }
    for (int j = 0; j < n; ++j)
      a[j] = b[j];
  }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5), n = (int)example_arg(argc, argv, 2, 40);
  size_t count = (size_t)n * (steps + 1);
  double *A = example_array(count), *B = example_array(n), *C = example_array(n), *K = example_array(n);
  example_fill(A, count);
  example_fill(B, n);
  example_fill(C, n);
  example_fill(K, n);
  cheapest(steps, n, A, B, C);
  example_print("B", B, n);
  ends(steps, n, B, C);
  both(steps, n, B, C, K);
  unseen(steps, n, C, B, K);
  example_print("B", B, n);
  example_print("C", C, n);
  return 0;
}
