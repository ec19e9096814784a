// The same function on arrays that overlap by one element, that are the same, and that are apart.
// ARGS: 100
// ARGS: 0
// ARGS: 1
// ARGS: 2
// OFFLOAD: partial
#include "example.h"


__attribute__((noinline)) static void shifted(int n, double *to, const double *from) {
  for (int i = 0; i < n; ++i)
    to[i] = from[i] * 0.5 + 1.0;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33);
  double *A = example_array((size_t)n * 2 + 2);
  example_fill(A, (size_t)n * 2 + 2);
  shifted(n, A + 1, A);
  shifted(n, A, A + 1);
  shifted(n, A, A);
  shifted(n, A + n, A);
  example_print("A", A, (size_t)n * 2 + 2);
  free(A);
  return 0;
}
