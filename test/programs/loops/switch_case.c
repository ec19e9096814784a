// A switch over the iterator and one over data.
// ARGS: 333
// ARGS: 0
// ARGS: 1
// ARGS: 2
// OFFLOAD: yes
#include "example.h"


__attribute__((noinline)) static void kernel(int n, double *restrict A, const int *restrict kind) {
  for (int i = 0; i < n; ++i)
    switch (i & 3) {
    case 0:
      A[i] += 1.0;
      break;
    case 1:
      A[i] *= 2.0;
      break;
    default:
      A[i] -= 0.5;
    }
  for (int i = 0; i < n; ++i)
    switch (kind[i]) {
    case 3:
      A[i] = -A[i];
      /* fall through */
    case 1:
      A[i] += 4.0;
      break;
    case 7:
      A[i] *= A[i];
    }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333);
  double *A = example_array((size_t)n);
  int *kind = malloc(sizeof(int) * ((size_t)n + 1));
  if (!kind)
    return 2;
  example_fill(A, (size_t)n);
  for (int i = 0; i < n; ++i)
    kind[i] = (int)(example_bits() % 9);
  kernel(n, A, kind);
  example_print("A", A, (size_t)n);
  return 0;
}
