// Two planes that change places, with subscripts for which isl cannot find the last writer: the nest is given up or all pairs
// are taken for dependences, never an internal error.
// ARGS: 3
// ARGS: 0
// ARGS: 1
// ARGS: 2
// OFFLOAD: any
#include "example.h"

__attribute__((noinline)) static void planes(int steps, double scale, double A[2][12][12]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 2; ++j)
        if (j < i)
          A[(t + 1) % 2][j][i] = A[(t + 1) % 2][j][i] * 0.35;
    for (int i = 1; i < 12; ++i)
      for (int j = 1; j < 11; ++j)
        for (int k = 0; k < steps; ++k)
          A[t % 2][j][t] = scale * A[t % 2][t][i - 1] + A[t % 2][j][t] * 0.3;
  }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 3);
  double *A = example_array(2 * 12 * 12);
  example_fill(A, 2 * 12 * 12);
  planes(steps, 0.75, (double(*)[12][12])(void *)A);
  example_print("A", A, 2 * 12 * 12);
  free(A);
  return 0;
}
