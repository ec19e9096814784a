// Calls that set errno under conditions on data and in loops on data, several of them with different numbers, in loops that look at errno
// themselves, and where arrays stay on the device: what the device had of them before is still there when the original loop has to run.
// ARGS: 33 17 0
// ARGS: 33 17 1
// ARGS: 33 17 2
// ARGS: 40 65 3
// OFFLOAD: partial
// KERNELS: compared only_called
// STAYS: looks main.4: the array holds errno
#include "example.h"
#include <errno.h>
#include <math.h>

static void tell(const char *what) {
  printf("%s: %s\n", what, errno == EDOM ? "EDOM" : errno == ERANGE ? "ERANGE" : errno == 7 ? "as it was" : "another");
  errno = 7;
}

__attribute__((noinline)) static void under_condition(int n, int m, double A[restrict n][m], double B[restrict n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      if (A[i][j] > 0.0)
        B[i][j] = log(A[i][j]) * 0.25;
      else if (B[i][j] > 0.5)
        B[i][j] = sqrt(-A[i][j]);
}

__attribute__((noinline)) static void in_a_loop(int n, double x[restrict n], double y[restrict n]) {
  for (int i = 0; i < n; ++i) {
    double v = fabs(x[i]);
    while (v > 0.3)
      v = v * 0.5 + pow(v, 3.0) * 0.25 + 1e-3;
    y[i] = v;
  }
}

// The call of the logarithm has no other effect for some elements.
__attribute__((noinline)) static void unused(int n, double x[restrict n], double y[restrict n]) {
  for (int i = 0; i < n; ++i) {
    double l = log(x[i]);
    y[i] = i % 2 ? 1.0 : l;
  }
}

// Nobody wants the logarithm, or more of it than a bit, and it is computed for some elements only.
__attribute__((noinline)) static void compared(int n, double x[restrict n], double y[restrict n]) {
  for (int i = 0; i < n; ++i) {
    double l = 0;
    if (x[i] < 0.75)
      l = log(x[i]);
    y[i] = 2 * x[i] + (l > 1e9);
  }
}

__attribute__((noinline)) static void only_called(int n, double x[restrict n], double y[restrict n]) {
  for (int i = 0; i < n; ++i) {
    if (y[i] > 0.25)
      log(x[i]);
    y[i] = y[i] - 0.5 * x[i];
  }
}

__attribute__((noinline)) static int looks(int n, double x[restrict n], double y[restrict n], const int *number) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = exp(x[i]);
    sum += *number;
  }
  return sum;
}

__attribute__((noinline)) static void stores(int n, const double *x, double *y, int *number) {
  for (int i = 0; i < n; ++i) {
    y[i] = exp(x[i]);
    number[0] = i;
  }
}

// The third step meets what `where` says; A and B stay on the device otherwise.
__attribute__((noinline)) static void steps(int n, int m, double A[restrict n][m], double B[restrict n][m], int count, double where) {
  for (int t = 0; t < count; ++t) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        B[i][j] = 0.5 * A[i][j] + 0.25 * B[i][j] + t;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        A[i][j] = exp(-B[i][j]) + (t == 2 && i == 3 && j == 5 ? sqrt(where) : log(where + 2.0)) + 0.125 * A[i][j];
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17), mode = (int)example_arg(argc, argv, 3, 0);
  int count = n * m;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  errno = 7;
  under_condition(n, m, (double(*)[m])A, (double(*)[m])B);
  tell("under a condition");
  in_a_loop(count, A, B);
  tell("in a loop");
  for (int i = 0; i < count; ++i)
    A[i] = fabs(A[i]) + 0.5;
  if (mode & 1)
    A[count / 2] = 0.0;
  unused(count, A, B);
  tell("unused");
  compared(count, A, B);
  tell("compared");
  only_called(count, A, B);
  tell("only called");
  for (int i = 0; i < count; ++i)
    A[i] = -A[i];
  if (mode & 1)
    A[count - 2] = -800.0;
  unused(count, B, A);
  tell("logarithms of some");
  if (mode & 2)
    A[count / 3] = -1e4;
  for (int i = 0; i < count; ++i)
    if (A[i] != A[i])
      A[i] = 0.25;
  int sum = looks(count, A, B, &errno);
  printf("%d ", sum);
  tell("looked at");
  stores(count, A, B, &errno);
  printf("%d\n", errno == count - 1);
  errno = 7;
  for (int i = 0; i < count; ++i)
    A[i] = 0.5 + 1e-3 * i, B[i] = 0.25;
  if (mode & 2)
    A[count / 3] = 3000.0;
  steps(n, m, (double(*)[m])A, (double(*)[m])B, 6, mode & 1 ? -1.0 : 1.0);
  tell("steps");
  for (int i = 0; i < count; ++i)
    if (A[i] != A[i] || B[i] != B[i])
      A[i] = B[i] = 4.0;
  example_print("A", A, count);
  example_print("B", B, count);
  free(A);
  free(B);
  return 0;
}
