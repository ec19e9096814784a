// A program that wants to end at the first division by zero (`feenableexcept`): its loops run as they are while exceptions trap, what a loop
// divides by only under a condition traps nowhere, and one that does divide by zero still traps. Later on they run on the device.
// OFFLOAD: partial
// FALLBACK: floating-point exceptions trap
// ARGS: 0
// ARGS: 1
// ARGS: 1000
// ARGS: 4097
#define _GNU_SOURCE
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static sigjmp_buf back;

static void caught(int number) {
  (void)number;
  siglongjmp(back, 1);
}

__attribute__((noinline)) static void invert(int n, const double *x, double *y) {
  for (int i = 0; i < n; i++)
    y[i] = x[i] > 0 ? pow(x[i], -0.75) + 1 / x[i] : 0;
}

__attribute__((noinline)) static void invert_all(int n, const double *x, double *y) {
  for (int i = 0; i < n; i++)
    y[i] = 1 / x[i];
}

static double sum(int n, const double *y) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += y[i] * (i % 7 + 1);
  return s;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 100;
  double *x = malloc((n + 1) * sizeof *x), *y = malloc((n + 1) * sizeof *y);
  unsigned seed = 3;
  for (int i = 0; i < n; i++) {
    seed = seed * 1103515245 + 12345;
    x[i] = seed % 5 ? (seed >> 16) / 65536.0 : 0;
    y[i] = -1;
  }
  const int wanted = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW;
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(wanted);
  invert(n, x, y);
  printf("%a %d\n", sum(n, y), fegetexcept() == wanted);
  signal(SIGFPE, caught);
  if (sigsetjmp(back, 1) == 0) {
    invert_all(n, x, y);
    printf("no zero %a\n", sum(n, y));
  } else {
    printf("trapped\n");
  }
  feclearexcept(FE_ALL_EXCEPT);
  fedisableexcept(wanted);
  invert(n, x, y);
  printf("%a %d\n", sum(n, y), fegetexcept());
  for (int i = 0; i < n; i++)
    x[i] += 1;
  invert_all(n, x, y);
  printf("%a\n", sum(n, y));
  free(x);
  free(y);
  return 0;
}
