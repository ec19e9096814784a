// Between SCoPs the program prints, takes the time and calls functions of its own that read one array or write one: what only is read
// or printed stays valid on the device.
// ARGS: 600
// ARGS: 33
// ARGS: 1
// OFFLOAD: yes
// KERNELS: work
// In: A and B at first, A again after touch. Out: A to be printed, B for look, A for touch, B at the end; and whether n > 0, a byte.
// MOVED: 14400 19201
#include "example.h"
#include <time.h>

static double total;
static int calls;

__attribute__((noinline)) static double step(double sum, double x) { return sum * 0.75 + x; }

__attribute__((noinline)) static void look(int n, const double *p) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum = step(sum, p[i]);
  total += sum;
  ++calls;
  printf("look %.17g\n", sum);
}

__attribute__((noinline)) static void touch(int n, double *p) {
  p[n / 3] = step(p[n / 3], 1.5);
}

__attribute__((noinline)) static long ticks(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_nsec + clock() + rand();
}

__attribute__((noinline)) static void work(int n, double *restrict A, double *restrict B) {
  for (int i = 0; i < n; ++i)
    A[i] = A[i] * 0.5 + B[i];
  long before = ticks();
  printf("A %.17g\n", A[n / 2]);
  for (int i = 0; i < n; ++i)
    B[i] = A[i] + 1;
  look(n, B);
  for (int i = 0; i < n; ++i)
    A[i] += B[i];
  touch(n, A);
  for (int i = 0; i < n; ++i)
    B[i] -= A[i] * 0.25;
  if (before == ticks())
    fputs("the same time twice\n", stderr);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 600);
  double *A = example_array((size_t)n), *B = example_array((size_t)n);
  example_fill(A, (size_t)n);
  example_fill(B, (size_t)n);
  work(n, A, B);
  example_print("A", A, (size_t)n);
  example_print("B", B, (size_t)n);
  printf("%d calls, %.17g\n", calls, total);
  free(A);
  free(B);
  return 0;
}
