// A stencil whose two arrays change places after each step.
// ARGS: 5 33 17
// ARGS: 0 9 9
// ARGS: 4 3 50
// OFFLOAD: yes
#include "example.h"


__attribute__((noinline)) static double *kernel(int steps, int n, int m, double *from, double *to) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        to[i * m + j] = 0.4 * from[i * m + j] + 0.15 * (from[(i - 1) * m + j] + from[(i + 1) * m + j]) +
                        0.15 * (from[i * m + j - 1] + from[i * m + j + 1]);
    double *x = from;
    from = to;
    to = x;
  }
  return from;
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5);
  int n = (int)example_arg(argc, argv, 2, 33), m = (int)example_arg(argc, argv, 3, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  double *last = kernel(steps, n, m, A, B);
  example_print(last == A ? "last is A" : "last is B", last, count);
  example_print("A", A, count);
  example_print("B", B, count);
  return 0;
}
