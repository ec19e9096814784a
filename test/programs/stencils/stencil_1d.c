// Iterative stencils in one dimension: radius one and two, one-sided, with borders that differ; any number of steps.
// ARGS: 0 40
// ARGS: 1 40
// ARGS: 17 1
// ARGS: 17 2
// ARGS: 17 3
// ARGS: 40 5
// ARGS: 33 67
// ARGS: 65 2500
// ARGS: 34 1031
// OFFLOAD: yes
// KERNELS: three one_sided five
// STRATEGY: streaming 1x32x1x3x1
#include "example.h"

__attribute__((noinline)) static void three(int steps, int n, double *restrict A, double *restrict B) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      B[i] = 0.3 * A[i - 1] + 0.33 * A[i] + 0.36 * A[i + 1];
    for (int i = 1; i < n - 1; ++i)
      A[i] = 0.35 * B[i - 1] + 0.34 * B[i] + 0.3 * B[i + 1];
  }
}

__attribute__((noinline)) static void five(int steps, int n, float *restrict A, float *restrict B) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 2; i < n - 2; ++i)
      B[i] = 0.2f * A[i - 2] + 0.21f * A[i - 1] + 0.19f * A[i] + 0.22f * A[i + 1] + 0.17f * A[i + 2];
    for (int i = 2; i < n - 2; ++i)
      A[i] = B[i];
  }
}

__attribute__((noinline)) static void one_sided(int steps, int n, double *restrict A, double *restrict B) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 3; i < n; ++i)
      B[i] = 0.5 * A[i - 3] - 0.4 * A[i - 1];
    for (int i = 0; i < n - 1; ++i)
      A[i] = 0.7 * B[i] + 0.4 * B[i + 1];
  }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5), n = (int)example_arg(argc, argv, 2, 33);
  double *A = example_array(n), *B = example_array(n);
  example_fill(A, n);
  example_fill(B, n);
  three(steps, n, A, B);
  example_print("A", A, n);
  example_print("B", B, n);
  one_sided(steps, n, A, B);
  example_print("A", A, n);
  example_print("B", B, n);
  float *F = malloc(4 * ((size_t)n + 1)), *G = malloc(4 * ((size_t)n + 1));
  for (int i = 0; i < n; ++i) {
    F[i] = (float)example_uniform();
    G[i] = (float)example_uniform();
  }
  five(steps, n, F, G);
  printf("%016llx %016llx\n", (unsigned long long)example_hash(F, 4 * (size_t)n), (unsigned long long)example_hash(G, 4 * (size_t)n));
  return 0;
}
