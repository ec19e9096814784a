// Iterations until a maximum or a sum over a grid is small: the grid's loops run in parallel, whatever the loops around them carry.
// ARGS: 60 40
// ARGS: 3 3
// ARGS: 33 130
// OFFLOAD: yes
// KERNELS: jacobi poisson greatest least largest counted planes
#include "example.h"
#include <math.h>

#define KERNEL __attribute__((noinline)) static

// A comparison, in one loop nest with the stencil.
KERNEL int jacobi(int n, int m, double *u, double *w, double tolerance) {
  int steps = 0;
  double most;
  do {
    most = 0;
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++) {
        w[i * m + j] = 0.25 * (u[(i - 1) * m + j] + u[(i + 1) * m + j] + u[i * m + j - 1] + u[i * m + j + 1]);
        double d = fabs(w[i * m + j] - u[i * m + j]);
        if (d > most)
          most = d;
      }
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        u[i * m + j] = w[i * m + j];
    steps++;
  } while (most > tolerance && steps < 12);
  return steps;
}

// One step of floats: the buffers of the greatest of each row have fewer vectors than blocks have threads.
KERNEL float poisson(int n, int m, float x[n][m], float y[n][m], float f[n][m]) {
  float change = 0;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      y[i][j] = 0.25f * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1] - f[i][j]);
      change = fmaxf(change, fabsf(y[i][j] - x[i][j]));
    }
  return change;
}

// fmax and fmin pass NaNs over, and give one if there is nothing else.
KERNEL double greatest(int n, int m, const double *a) {
  double most = NAN;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      most = fmax(most, a[i * m + j]);
  return most;
}

KERNEL double least(int n, int m, const double *a, double start) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i && j < m; j++)
      start = fmin(start, a[i * m + j]);
  return start;
}

// Two values, of which one depends on the other's loop only.
KERNEL void largest(int n, int m, const double *a, double *rows, double *all) {
  double most = -1e30;
  for (int i = 0; i < n; i++) {
    double row = -1e30;
    for (int j = 0; j < m; j++)
      if (a[i * m + j] > row)
        row = a[i * m + j];
    rows[i] = row;
    if (row > most)
      most = row;
  }
  *all = most;
}

KERNEL long counted(int n, int m, const double *a, unsigned char *mark) {
  long count = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      mark[i * m + j] = a[i * m + j] > 0.5;
      count += mark[i * m + j];
    }
  return count;
}

// Three loops, and a store of what was summed up so far: no two cells are one there.
KERNEL long planes(int n, int m, const double *a, long *before) {
  long sum = 0;
  for (int i = 0; i < n; i++) {
    before[i] = sum;
    for (int j = 0; j < m; j++)
      for (int k = 0; k < 3; k++)
        sum += (long)(16 * a[i * m + j]) ^ k;
  }
  return sum;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 60), m = (int)example_arg(argc, argv, 2, 40);
  size_t all = (size_t)n * m;
  double *u = example_array(all), *w = example_array(all), *rows = example_array((size_t)n), top;
  unsigned char *mark = malloc(all);
  long *before = malloc((size_t)n * sizeof *before);
  example_fill(u, all);
  example_fill(w, all);
  printf("largest %.17g\n", (largest(n, m, u, rows, &top), top));
  example_print("rows", rows, (size_t)n);
  printf("counted %ld\n", counted(n, m, u, mark));
  printf("planes %ld\n", planes(n, m, u, before));
  printf("before %016llx mark %016llx\n", (unsigned long long)example_hash(before, (size_t)n * sizeof *before),
         (unsigned long long)example_hash(mark, all));
  printf("greatest %.17g least %.17g\n", greatest(n, m, u), least(n, m, u, 0.25));
  u[all / 2] = NAN;
  printf("greatest %.17g least %.17g\n", greatest(n, m, u), least(n, m, u, NAN));
  for (size_t i = 0; i < all; ++i)
    rows[i % (size_t)n] = w[i], w[i] = NAN;
  printf("greatest %d least %.17g\n", isnan(greatest(n, m, w)), least(n, m, w, 0.5));
  example_fill(u, all);
  example_fill(w, all);
  printf("jacobi %d\n", jacobi(n, m, u, w, 0.05));
  example_print("u", u, all);
  float *x = malloc(3 * all * sizeof *x);
  for (size_t i = 0; i < 3 * all; ++i)
    x[i] = (float)u[i % all] * (float)(i / all + 1);
  printf("poisson %.9g\n", poisson(n, m, (void *)x, (void *)(x + all), (void *)(x + 2 * all)));
  printf("x %016llx\n", (unsigned long long)example_hash(x, 3 * all * sizeof *x));
  free(x);
  free(u);
  free(w);
  free(rows);
  free(mark);
  free(before);
  return 0;
}
