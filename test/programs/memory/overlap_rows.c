// Two-dimensional arrays that start one row, and half a row, apart in one allocation.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: partial
#include "example.h"


__attribute__((noinline)) static void add(int n, int m, double *to, double *from) {
  double(*T)[m] = (double(*)[m])to;
  double(*F)[m] = (double(*)[m])from;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      T[i][j] = F[i][j] + T[i][j] * 0.5;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(3 * count + (size_t)m);
  example_fill(A, 3 * count + (size_t)m);
  if (count) {
    add(n, m, A + m, A);
    add(n, m, A, A + m / 2);
    add(n, m, A + count, A);
    add(n, m, A, A + 2 * count);
  }
  example_print("A", A, 3 * count + (size_t)m);
  free(A);
  return 0;
}
