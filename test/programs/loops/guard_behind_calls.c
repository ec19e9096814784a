// Nests whose guards stand behind calls and ordered accesses in one block: those run once, on the host and in their order, whether
// the nests run on the device or not.
// ARGS: 33 17 3
// ARGS: 0 5 2
// ARGS: 64 0 2
// ARGS: 1 1 1
// OFFLOAD: yes
// KERNELS: called
// KERNELS: inside
#include "example.h"
#include <errno.h>
#include <math.h>

static int notes;
__attribute__((noinline)) static double note(double x, const double *first) {
  ++notes;
  return x + notes + (first ? *first : 0.0);
}

__attribute__((noinline)) static void called(int n, int m, double alpha, double A[n][m], double B[n][m]) {
  double k = 3 * exp(alpha) + pow(alpha, 0.5);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      A[i][j] = A[i][j] * k + j;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      B[i][j] = A[n - 1 - i][j];
}

// What the call reads was stored before it; what is stored behind it is part of the nests.
__attribute__((noinline)) static void inside(int n, int steps, volatile int *flag, double *A, double *B) {
  for (int t = 0; t < steps; t++) {
    A[0] = t;
    double v = note(*flag, A);
    *flag = *flag + t;
    A[0] = -v;
    for (int i = 1; i <= n; i++)
      A[i] = A[i] * 0.5 + v;
    for (int i = 0; i <= n; i++)
      B[i] = A[n - i] - B[i];
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17), steps = (int)example_arg(argc, argv, 3, 3);
  size_t count = (size_t)n * m, length = (size_t)n + 1;
  double *A = example_array(count), *B = example_array(count), *x = example_array(length), *y = example_array(length);
  example_fill(A, count);
  example_fill(x, length);
  example_fill(y, length);
  errno = 0;
  called(n, m, 800.0 - n, (void *)A, (void *)B);
  printf("errno %d\n", errno);
  volatile int flag = 7;
  inside(n, steps, &flag, x, y);
  printf("flag %d notes %d\n", flag, notes);
  example_print("A", A, count);
  example_print("B", B, count);
  example_print("x", x, length);
  example_print("y", y, length);
  return 0;
}
