// A time loop of calls in place: what stays on the device is copied there for what is read, and nothing moves in between.
// ARGS: 1000
// ARGS: 5
// OFFLOAD: yes
// KERNELS: update damp
// MOVED: 16000 16000
#include "example.h"

__attribute__((noinline)) static void update(int n, double *out, const double *in, double c) {
  for (int i = 0; i < n; i++)
    out[i] = out[i] + c * in[i];
}

__attribute__((noinline)) static void damp(int n, double *out, const double *in) {
  for (int i = 0; i < n - 1; i++)
    out[i] = 0.5 * in[i] + 0.25 * in[i + 1];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 100);
  double *A = example_array((size_t)n), *B = example_array((size_t)n);
  example_fill(A, (size_t)n);
  example_fill(B, (size_t)n);
  for (int t = 0; t < 20; t++) {
    update(n, A, B, 0.125);
    damp(n, A, A);
    update(n, B, A, 0.5);
    damp(n, B, B);
  }
  example_print("A", A, (size_t)n);
  example_print("B", B, (size_t)n);
  free(A);
  free(B);
  return 0;
}
