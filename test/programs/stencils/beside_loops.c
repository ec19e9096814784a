// Time loops beside the loops that set their fields and look at the results: in one function, a norm every few steps, two time loops in a row, roots as C compiles them by default.
// ARGS: 3 40
// ARGS: 0 9
// ARGS: 17 67
// OFFLOAD: yes
// TURNS: 3
// KERNELS: whole until in_a_row
#include "example.h"
#include <math.h>

#define KERNEL __attribute__((noinline)) static

/* What people write in main. */
KERNEL double whole(int steps, int n, double u[n][n], double v[n][n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      u[i][j] = (i * 7 + j * 3) % 11 * 0.1;
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        u[i][j] = v[i][j];
  }
  double most = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      most = u[i][j] > most ? u[i][j] : most;
  return most;
}

/* A norm between blocks of steps. */
KERNEL int until(int steps, int n, float a[2][n][n], float limit) {
  int done = 0;
  float change = 1e30f;
  while (done < steps && change >= limit) {
    for (int t = 0; t < 6; ++t)
      for (int i = 1; i < n - 1; ++i)
        for (int j = 1; j < n - 1; ++j)
          a[(t + 1) % 2][i][j] = 0.2f * (a[t % 2][i - 1][j] + a[t % 2][i][j - 1] + a[t % 2][i][j] + a[t % 2][i][j + 1] + a[t % 2][i + 1][j]);
    change = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        float x = fabsf(a[1][i][j] - a[0][i][j]);
        change = x > change ? x : change;
      }
    done += 6;
  }
  return done;
}

KERNEL void in_a_row(int steps, int n, float a[2][n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j) {
        float x = a[t % 2][i][j + 1] - a[t % 2][i][j - 1], y = a[t % 2][i + 1][j] - a[t % 2][i - 1][j];
        a[(t + 1) % 2][i][j] = a[t % 2][i][j] + 0.1f / sqrtf(0.01f + x * x + y * y);
      }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      a[0][i][j] = a[1][i][j] = 0.5f * (a[0][i][j] - a[1][i][j]);
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        a[(t + 1) % 2][i][j] = 0.3f * (a[t % 2][i - 1][j] + a[t % 2][i][j] + a[t % 2][i][j + 1]);
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5), n = (int)example_arg(argc, argv, 2, 40);
  size_t count = (size_t)n * n;
  double *u = malloc(count * sizeof *u), *v = malloc(count * sizeof *v);
  float *a = malloc(2 * count * sizeof *a);
  for (size_t k = 0; k < 2 * count; ++k)
    a[k] = (float)example_uniform();
  printf("%.17g\n", whole(steps, n, (void *)u, (void *)v));
  printf("%d\n", until(4 * steps, n, (void *)a, 0.002f));
  in_a_row(steps, n, (void *)a);
  printf("%016llx %016llx\n", (unsigned long long)example_hash(u, count * sizeof *u), (unsigned long long)example_hash(a, 2 * count * sizeof *a));
  return 0;
}
