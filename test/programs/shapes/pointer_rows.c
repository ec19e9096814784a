// An array of pointers to rows.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: partial
#include "example.h"


__attribute__((noinline)) static void kernel(int n, int m, double **A, double **B) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      A[i][j] = A[i][j] * 0.5 + B[i][j];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  double **A = malloc(sizeof(double *) * (size_t)(n + 1)), **B = malloc(sizeof(double *) * (size_t)(n + 1));
  if (!A || !B)
    return 2;
  for (int i = 0; i < n; ++i) {
    A[i] = example_array((size_t)m);
    /* Two rows of B are the same memory. */
    B[i] = i == 3 ? B[0] : example_array((size_t)m);
    example_fill(A[i], (size_t)m);
    example_fill(B[i], (size_t)m);
  }
  kernel(n, m, A, B);
  kernel(n, m, B, A);
  for (int i = 0; i < n; ++i) {
    example_print("A", A[i], (size_t)m);
    example_print("B", B[i], (size_t)m);
  }
  return 0;
}
