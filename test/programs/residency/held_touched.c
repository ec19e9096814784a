// Between SCoPs of one function the host does all it can to their arrays: single elements, memcpy, realloc, free, aliases, calls,
// ranges that grow, two arrays in one allocation.
// ARGS: 40 6
// ARGS: 129 9
// ARGS: 2 3
// OFFLOAD: yes
#include "example.h"
#include <string.h>

__attribute__((noinline)) static double peek(const double *p, int i) { return p[i]; }
__attribute__((noinline)) static void poke(double *p, int i, double x) { p[i] = x; }
__attribute__((noinline)) static int odd(int s) { return s & 1; }

__attribute__((noinline)) static void work(int n, int rounds) {
  double *A = malloc(n * sizeof(double)), *both = malloc(2 * n * sizeof(double)), *B = both, *C = both + n, *again = A;
  double stack[130], sum = 0;
  for (int i = 0; i < n; ++i)
    A[i] = i * 0.5, B[i] = i * 0.25, C[i] = 3 - i, stack[i] = i;
  for (int r = 0; r < rounds; ++r) {
    for (int i = 0; i < n; ++i)
      A[i] = A[i] * 0.5 + B[i];
    if (odd(r))
      again[r % n] += 1; // an alias of A
    for (int i = 0; i < n; ++i)
      C[i] += A[i] * 0.125;
    if (r % 3 == 1)
      sum += C[n / 2] + B[0];
    for (int i = 0; i < n; i += 2)
      B[i] = C[i] - stack[i];
    if (r % 3 == 2)
      memcpy(B, A, n * sizeof(double) / 2);
    for (int i = r % n; i < n; ++i) // not always the same range
      stack[i] = A[i] + C[i];
    if (r % 4 == 3) {
      A = realloc(A, (n + r) * sizeof(double));
      again = A;
    }
    for (int i = 0; i < n - 1; ++i)
      A[i] = A[i + 1] + stack[i];
    if (r % 5 == 1)
      poke(C, n - 1, peek(A, 0));
    if (r % 5 == 3)
      memmove(A + 1, A, (n - 1) * sizeof(double));
    if (r == 4) {
      double *fresh = malloc(n * sizeof(double));
      memcpy(fresh, A, n * sizeof(double));
      free(A);
      A = again = fresh;
    }
  }
  printf("%.17g\n", sum);
  example_print("A", A, n);
  example_print("B", B, n);
  example_print("C", C, n);
  example_print("stack", stack, n);
  free(A);
  free(both);
}

int main(int argc, char **argv) {
  work((int)example_arg(argc, argv, 1, 40), (int)example_arg(argc, argv, 2, 6));
  return 0;
}
