// Iterations that end the program, or jump away, because of what they read; and a check of a subscript in front of a branch on data.
// ARGS: 33
// ARGS: 0
// ARGS: 1
// ARGS: 257
// OFFLOAD: yes
#include "example.h"
#include <setjmp.h>

static jmp_buf back;
static size_t length;

__attribute__((noinline, noreturn)) static void fail(const char *what, double x) {
  printf("%s %.17g\n", what, x);
  longjmp(back, 1);
}

__attribute__((noinline)) static void positive(int n, const double *A, double *B) {
  for (int i = 0; i < n; ++i) {
    if (!(A[i] > -0.75))
      fail("too small", A[i]);
    B[i] = A[i] * 0.5;
  }
}

__attribute__((noinline)) static void clamped(size_t n, const double *A, double *B) {
  for (size_t i = 0; i < n; ++i) {
    if (i >= length)
      fail("out of range", (double)i);
    if (A[i] > 0.25)
      B[i] += A[i] * A[i] + 0.125;
  }
}

__attribute__((noinline)) static void both(size_t n, const double *A, double *B) {
  for (size_t i = 0; i < n; ++i) {
    if (i >= length || A[i] > 0.9375)
      fail("out of range or too large", A[i]);
    if (A[i] > 0.25)
      B[i] += A[i];
  }
}

int main(int argc, char **argv) {
  size_t n = (size_t)example_arg(argc, argv, 1, 33);
  double *A = example_array(n), *B = example_array(n);
  example_fill(A, n);
  example_fill(B, n);
  if (n) {
    A[n / 2] = -0.875;
    A[n - n / 3 - 1] = 0.96875;
  }
  length = n;
  if (!setjmp(back))
    positive((int)n, A, B);
  example_print("positive", B, n);
  if (!setjmp(back))
    clamped(n, A, B);
  example_print("clamped", B, n);
  length = n - n / 4;
  if (!setjmp(back))
    clamped(n, A, B);
  example_print("clamped", B, n);
  if (!setjmp(back))
    both(n, A, B);
  example_print("both", B, n);
  return 0;
}
