// Sums of every third element, with the sum put into the row it came from: isl lets the condition of some copies to shared memory stand for the
// copies alone, since the loops behind them are empty where it does not hold.
// ARGS: 100 257
// ARGS: 33 64
// ARGS: 5 1
// ARGS: 40 2
// ARGS: 64 130
// OFFLOAD: yes
// STRATEGY: isl
#include "example.h"

__attribute__((noinline)) static void sums(int n, int m, TYPE A[restrict n][m]) {
  for (int i = 0; i < n; i++) {
    float sum = 0.75f;
    for (int j = 1; j < m; j += 3)
      sum += (float)A[i][j - 1];
    A[i][0] = (TYPE)sum;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 100), m = (int)example_arg(argc, argv, 2, 257);
  size_t count = (size_t)n * m;
  TYPE *A = example_array(count);
  example_fill(A, count);
  sums(n, m, (TYPE(*)[m])A);
  example_print("A", A, count);
  return 0;
}
