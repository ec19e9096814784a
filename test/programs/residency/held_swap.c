// Two arrays swap roles each time round a loop that ends by itself; both are read at the end, one of them in between.
// ARGS: 50 9
// ARGS: 1 3
// ARGS: 700 41
// ARGS: 3 0
// OFFLOAD: yes
// KERNELS: smooth
#include "example.h"

__attribute__((noinline)) static double *smooth(int n, double *a, double *b, int steps, double *seen) {
  double limit = 1e300;
  int s = 0;
  while (s < steps && limit > 1e-200) {
    for (int i = 1; i < n - 1; ++i)
      b[i] = 0.5 * a[i] + 0.25 * (a[i - 1] + a[i + 1]);
    for (int i = 1; i < n - 1; i += 2)
      b[i] += 0.001 * a[i + 1];
    if (s % 4 == 3 && n > 2)
      limit = b[n / 2] * b[n / 2], seen[s / 4] = b[1];
    double *t = a;
    a = b;
    b = t;
    ++s;
  }
  return a;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 50), steps = (int)example_arg(argc, argv, 2, 9);
  double *a = example_array(n), *b = example_array(n), seen[64] = {0};
  example_fill(a, n);
  for (int i = 0; i < n; ++i)
    b[i] = a[i];
  double *last = smooth(n, a, b, steps, seen);
  printf("%s\n", last == a ? "a" : "b");
  example_print("a", a, n);
  example_print("b", b, n);
  example_print("seen", seen, 64);
  return 0;
}
