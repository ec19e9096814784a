// One activation touches a thousand pieces of memory, one after the other, as an interpreter touches objects: what stays on the device is bounded, results
// that have to go come back, and pieces that come again have their values.
// ARGS: 1000 20
// ARGS: 300 40
// ARGS: 3 1
// OFFLOAD: yes
#include "example.h"

static void scale(int n, double *A) {
  for (int i = 0; i < n; ++i)
    A[i] = A[i] * 0.5 + i;
}

static void add(int n, double *A, const double *B) {
  for (int i = 0; i < n; ++i)
    A[i] += B[i] * 0.25;
}

// (Which piece comes next is a matter of data: no loop around the pieces can be modelled.)
__attribute__((noinline)) static void work(int pieces, int n, double *A, const int *next) {
  int at = 0;
  for (int k = 0; k < pieces; ++k) {
    scale(n, A + (size_t)at * 2 * (size_t)n);
    at = next[at];
  }
  for (int k = 0; k < pieces; ++k) {
    int then = next[at];
    if (then != at)
      add(n, A + (size_t)at * 2 * (size_t)n, A + (size_t)then * 2 * (size_t)n);
    at = then;
  }
}

int main(int argc, char **argv) {
  int pieces = (int)example_arg(argc, argv, 1, 1000), n = (int)example_arg(argc, argv, 2, 20);
  size_t all = (size_t)pieces * 2 * (size_t)n;
  double *A = example_array(all);
  int *next = malloc((size_t)pieces * sizeof(int));
  for (size_t i = 0; i < all; ++i)
    A[i] = example_uniform();
  for (int k = 0; k < pieces; ++k)
    next[k] = (k + 7) % pieces;
  work(pieces, n, A, next);
  example_print("A", A, all);
  free(A);
  free(next);
  return 0;
}
