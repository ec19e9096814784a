// Checks on what the loop loads or computes, which the device reports: none fails, or one does, and then what the loop did before is there and nothing of what
// it would have done behind. The second argument is the number of the wrong element, counted from one.
// ARGS: 1000 0
// ARGS: 1000 1
// ARGS: 1000 620
// ARGS: 40 40
// ARGS: 0 0
// OFFLOAD: partial
// FALLBACK: a check in the loop failed, which ends it
// KERNELS: volumes roots halves largest smooth
#include "example.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>

static jmp_buf back;

__attribute__((noinline, noreturn)) static void fail(int i) {
  printf("wrong: %d\n", i);
  longjmp(back, 1);
}

// What is written is not read, so that it comes back as a whole, and only where all of it was written.
__attribute__((noinline)) static void volumes(int n, const double *restrict v, const double *restrict d, double *restrict o) {
  for (int i = 0; i < n; ++i) {
    double w = v[i] + d[i];
    if (w <= 0)
      fail(i);
    o[i] = 1 / w;
  }
}

// In place, with a function that may set errno, and of a zero would.
__attribute__((noinline)) static void roots(int n, double *v) {
  for (int i = 0; i < n; ++i) {
    if (!(v[i] > 0))
      fail(i);
    v[i] = sqrt(v[i]);
  }
}

// Beneath a branch on data.
__attribute__((noinline)) static void halves(int n, const double *restrict v, double *restrict o) {
  for (int i = 0; i < n; ++i) {
    if (v[i] < 1) {
      if (v[i] * 2 < -50)
        fail(i);
      o[i] = v[i] * 0.5;
    } else
      o[i] = 0;
  }
}

// A value that lives on.
__attribute__((noinline)) static double largest(int n, const double *v) {
  double most = 0;
  for (int i = 0; i < n; ++i) {
    double x = fabs(v[i]);
    if (x > 90)
      fail(i);
    most = x > most ? x : most;
  }
  return most;
}

// In each step of a time loop.
__attribute__((noinline)) static void smooth(int n, int steps, double *restrict a, double *restrict b) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i) {
      double x = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1];
      if (x < -40)
        fail(i);
      b[i] = x;
    }
    for (int i = 1; i < n - 1; ++i)
      a[i] = b[i];
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1000), wrong = (int)example_arg(argc, argv, 2, 0) - 1;
  double *v = example_array((size_t)n), *d = example_array((size_t)n), *o = example_array((size_t)n);
  for (int i = 0; i < n; ++i) {
    v[i] = 1 + i % 7 * 0.25;
    d[i] = 0.5;
    o[i] = -3;
  }
  if (wrong >= 0)
    v[wrong] = -100;
  if (!setjmp(back))
    volumes(n, v, d, o);
  example_print("volumes", o, (size_t)n);
  if (!setjmp(back))
    halves(n, v, o);
  example_print("halves", o, (size_t)n);
  if (!setjmp(back))
    printf("%.17g\n", largest(n, v));
  errno = 0;
  if (!setjmp(back))
    roots(n, v);
  printf("errno %d\n", errno);
  example_print("roots", v, (size_t)n);
  if (!setjmp(back))
    smooth(n, 5, v, o);
  example_print("smooth", v, (size_t)n);
}
