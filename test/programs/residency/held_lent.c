// The usual main: arrays are set, a kernel runs in a time loop, results are summed up and printed, all in functions of their own that
// are not inlined. Arrays stay on the device from one call to the next.
// ARGS: 300 9
// ARGS: 33 4
// ARGS: 1 1
// ARGS: 3 0
// OFFLOAD: yes
// KERNELS: start step
// In: nothing. Out: u as a whole at step 4, its inner rows at steps 8 and 9 (720000 + 2 * 715184 bytes); v is freed and does not come back.
// MOVED: 0 2150368
#include "example.h"
#include <time.h>

static int rows;

__attribute__((noinline)) static double add(double sum, double x) { return sum * 0.75 + x; }

__attribute__((noinline)) static void start(int n, double *u, double *v) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      u[i * n + j] = (i * 7 + j * 3) % 11 * 0.5;
      v[i * n + j] = 0;
    }
}

__attribute__((noinline)) void step(int n, const double *restrict u, double *restrict v) {
  for (int i = 1; i < n - 1; ++i)
    for (int j = 1; j < n - 1; ++j)
      v[i * n + j] = 0.25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1]);
}

__attribute__((noinline)) static void row(int n, const double *u, int step) {
  double sum = 0;
  for (int j = 0; j < n; ++j)
    sum = add(sum, u[n / 2 * n + j]);
  printf("step %d: %.17g\n", step, sum);
  ++rows;
}

__attribute__((noinline)) static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 300), steps = (int)example_arg(argc, argv, 2, 9);
  double *u = malloc(sizeof(double) * n * n), *v = malloc(sizeof(double) * n * n);
  if (!u || !v)
    return 1;
  double begin = seconds();
  start(n, u, v);
  for (int s = 0; s < steps; ++s) {
    step(n, u, v);
    step(n, v, u);
    if (s % 4 == 3)
      row(n, u, s + 1);
  }
  if (seconds() < begin)
    printf("time goes backwards\n");
  row(n, u, steps);
  example_print("u", u, (size_t)n * n);
  printf("%d rows\n", rows);
  free(u);
  free(v);
  return 0;
}
