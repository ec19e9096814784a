// Square roots that may set errno: where one does, the original loop has to set it, with nothing written by the device. Calls that may set ERANGE or not,
// beside one that surely does.
// ARGS: 33 17 0
// ARGS: 2 3 1
// ARGS: 31 65 0
// ARGS: 33 17 1
// OFFLOAD: partial
// KERNELS: tails
#include "example.h"
#include <errno.h>
#include <math.h>

__attribute__((noinline)) static void normalise(int n, int m, double A[restrict n][m], double norm[restrict n]) {
  for (int i = 0; i < n; ++i) {
    norm[i] = 0.0;
    for (int j = 0; j < m; ++j)
      norm[i] += A[i][j] * A[i][j];
    norm[i] = sqrt(norm[i]);
    for (int j = 0; j < m; ++j)
      A[i][j] /= norm[i];
  }
}

__attribute__((noinline)) static void roots(int n, int m, double A[restrict n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      A[i][j] = sqrt(A[i][j]) + 0.5 * sqrtf((float)A[i][j]);
}

/* From 10 on the library's versions differ in where erfcf underflows, behind 10.1 it does. */
__attribute__((noinline)) static void tails(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; ++i)
    y[i] = (double)erfcf((float)(10.0 + 2.0 * i / n)) + x[i];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(count), *norm = example_array(n);
  example_fill(A, count);
  errno = 0;
  normalise(n, m, (double(*)[m])A, norm);
  printf("errno %d\n", errno);
  example_print("A", A, count);
  for (size_t i = 0; i < count; ++i)
    A[i] = A[i] * A[i];
  A[count / 3] = -0.0;
  if (example_arg(argc, argv, 3, 0))
    A[count / 2] = -1.0;
  errno = 0;
  roots(n, m, (double(*)[m])A);
  printf("errno %s\n", errno == EDOM ? "EDOM" : errno ? "another" : "0");
  for (size_t i = 0; i < count; ++i)
    if (A[i] != A[i])
      A[i] = 4.0;
  example_print("A", A, count);
  errno = 0;
  tails((int)count, A, norm = example_array(count));
  printf("errno %s\n", errno == ERANGE ? "ERANGE" : errno ? "another" : "0");
  example_print("tails", norm, count);
  return 0;
}
