// A nest with a step that is known at run time only has versions for one and two; what stands beside it in a time loop runs whatever the step is.
// ARGS: 40 1 3
// ARGS: 40 2 3
// ARGS: 41 16 3
// OFFLOAD: yes
// KERNELS: beside.1
// KERNELS: beside.\d
#include "example.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))

__attribute__((noinline)) static void nothing(void) { __asm__ volatile(""); }

__attribute__((noinline)) static void beside(long n, long ts, int steps, double *restrict a, double *restrict b) {
  for (int t = 0; t < steps; t++) {
    nothing();
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++)
        b[i * n + j] += 2 * a[i * n + j];
    for (long it = 0; it < n; it += ts)
      for (long jt = 0; jt < n; jt += ts)
        for (long i = it; i < MIN(n, it + ts); i++)
          for (long j = jt; j < MIN(n, jt + ts); j++)
            a[j * n + i] += b[i * n + j] * 0.25;
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++)
        b[i * n + j] -= 1;
  }
}

int main(int argc, char **argv) {
  long n = (long)example_arg(argc, argv, 1, 40), ts = (long)example_arg(argc, argv, 2, 4);
  int steps = (int)example_arg(argc, argv, 3, 3);
  double *a = example_array(n * n), *b = example_array(n * n);
  example_fill(a, n * n);
  example_fill(b, n * n);
  beside(n, ts, steps, a, b);
  example_print("a", a, n * n);
  example_print("b", b, n * n);
  free(a);
  free(b);
  return 0;
}
