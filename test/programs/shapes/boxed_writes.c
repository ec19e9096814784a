// Rows of n + 1 elements filled along a diagonal: modelled in rows of n + 2, where the first and the last written element have many
// cases. The box around them reaches beyond what is touched, the range that comes back must not.
// ARGS: 16 33 0
// ARGS: 16 33 5
// ARGS: 2 4 3
// ARGS: 0 0 0
// ARGS: 40 39 2
// OFFLOAD: yes
#define TYPE float
#include "example.h"

__attribute__((noinline)) static void fill(int n0, int n, int steps, float *A, float *B) {
  for (int i = 2; i <= n0; i++) {
    for (int j = 0; j < n; j++)
      A[(i * (n + 1)) + j] = 0.025f;
    A[((size_t)i * (n + 1)) + 1] = ((A[((size_t)(i + 1) * (n + 1)) + (i + 2)] * 0.25f) + (B[0] * B[n - 1]));
  }
  for (int i = 0; i < n; i++) {
    float s = 1.125f;
    for (int k = 0; k < steps; k++)
      s += (((A[((size_t)0 * (n + 1)) + i] * A[((size_t)1 * (n + 1)) + (i + 1)]) + (s * B[i])) - ((float)(k % 2) * 0.007f));
    B[i] += (s * 0.252f);
  }
}

int main(int argc, char **argv) {
  int n0 = (int)example_arg(argc, argv, 1, 16), n = (int)example_arg(argc, argv, 2, 33);
  int steps = (int)example_arg(argc, argv, 3, 0);
  size_t rows = (size_t)n0 + 3, columns = (size_t)n + 1, first = steps ? 0 : 2 * columns;
  // Without the second loop nothing in front of row 2 is touched, and nothing is there.
  size_t count = (rows - (steps ? 0 : 2)) * columns + (size_t)n0;
  float *A = example_array(count), *B = example_array((size_t)n + 1);
  example_fill(A, count);
  example_fill(B, (size_t)n + 1);
  fill(n0, n, steps, A - first, B);
  example_print("A", A, count);
  example_print("B", B, (size_t)n + 1);
  free(A);
  free(B);
  return 0;
}
