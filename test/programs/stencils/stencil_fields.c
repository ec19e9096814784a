// Stencils of many fields: a lattice method whose directions are planes of one array, fields of a structure of arrays in one allocation, and the last
// time steps, whose launches write all of them.
// ARGS: 0 5 7
// ARGS: 1 9 8
// ARGS: 2 12 11
// ARGS: 3 3 3
// ARGS: 4 17 40
// ARGS: 7 40 33
// ARGS: 10 33 130
// OFFLOAD: yes
// KERNELS: lattice shallow levels
#include "example.h"

// Five directions: what streams in is relaxed towards its mean. Even and odd steps have planes of their own.
__attribute__((noinline)) static void lattice(int steps, int n, int m, TYPE f[2][5][n][m]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j) {
        TYPE f0 = f[t % 2][0][i][j], f1 = f[t % 2][1][i][j - 1], f2 = f[t % 2][2][i - 1][j];
        TYPE f3 = f[t % 2][3][i][j + 1], f4 = f[t % 2][4][i + 1][j];
        TYPE mean = (TYPE)0.2 * (f0 + f1 + f2 + f3 + f4);
        f[(t + 1) % 2][0][i][j] = f0 + (TYPE)0.6 * (mean - f0);
        f[(t + 1) % 2][1][i][j] = f1 + (TYPE)0.5 * (mean - f1);
        f[(t + 1) % 2][2][i][j] = f2 + (TYPE)0.55 * (mean - f2);
        f[(t + 1) % 2][3][i][j] = f3 + (TYPE)0.45 * (mean - f3);
        f[(t + 1) % 2][4][i][j] = f4 + (TYPE)0.65 * (mean - f4);
      }
}

// Height and two velocities behind one another, and a flux that only lives within a step.
__attribute__((noinline)) static void shallow(int steps, int n, int m, TYPE q[3][n][m], TYPE flux[n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        flux[i][j] = (TYPE)0.1 * (q[1][i][j + 1] - q[1][i][j - 1] + q[2][i + 1][j] - q[2][i - 1][j]);
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        q[0][i][j] = (TYPE)0.99 * q[0][i][j] - flux[i][j];
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j) {
        q[1][i][j] = (TYPE)0.98 * q[1][i][j] - (TYPE)0.1 * (q[0][i][j + 1] - q[0][i][j - 1]);
        q[2][i][j] = (TYPE)0.97 * q[2][i][j] - (TYPE)0.1 * (q[0][i + 1][j] - q[0][i - 1][j]);
      }
  }
}

// Three time levels: two are not live between launches of three steps.
__attribute__((noinline)) static void levels(int steps, int n, int m, TYPE a[3][n][m]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        a[(t + 2) % 3][i][j] = (TYPE)1.2 * a[(t + 1) % 3][i][j] - (TYPE)0.9 * a[t % 3][i][j] +
                               (TYPE)0.15 * (a[(t + 1) % 3][i - 1][j] + a[(t + 1) % 3][i + 1][j] +
                                             a[(t + 1) % 3][i][j - 1] + a[(t + 1) % 3][i][j + 1]);
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5);
  int n = (int)example_arg(argc, argv, 2, 9), m = (int)example_arg(argc, argv, 3, 9);
  size_t count = (size_t)n * m;
  TYPE *f = example_array(10 * count), *q = example_array(3 * count), *flux = example_array(count), *a = example_array(3 * count);
  example_fill(f, 10 * count);
  example_fill(q, 3 * count);
  example_fill(flux, count);
  example_fill(a, 3 * count);
  lattice(steps, n, m, (void *)f);
  shallow(steps, n, m, (void *)q, (void *)flux);
  levels(steps, n, m, (void *)a);
  example_print("f", f, 10 * count);
  example_print("q", q, 3 * count);
  example_print("flux", flux, count);
  example_print("a", a, 3 * count);
  free(f);
  free(q);
  free(flux);
  free(a);
  return 0;
}
