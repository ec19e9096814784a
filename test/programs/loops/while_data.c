// A while loop that converges by its data.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: no
#include "example.h"

__attribute__((noinline)) static void kernel(int n, int m, double A[n][m], double B[n][m]) {
  double x = 1000.0;
  int steps = 0;
  while (x > 1.0 && steps < n * m) {
    x = x * 0.75 + A[steps / m][steps % m];
    B[steps / m][steps % m] = x;
    ++steps;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  if (count)
    kernel(n, m, (double(*)[m])A, (double(*)[m])B);
  example_print("A", A, count);
  example_print("B", B, count);
  free(A);
  free(B);
  return 0;
}
