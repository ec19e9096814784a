// Loops one after the other that use what the ones before have computed: in one to three dimensions, from different first iterations, in a loop over time, with
// neighbours' values, overwritten operands, rows beside columns, and values of scalars in between.
//
// ARGS: 37 5
// ARGS: 1 1
// ARGS: 0 2
// ARGS: 64 3
// OFFLOAD: yes
// KERNELS: line plane volume moved stages updates turned borders
#include "example.h"

#define KEEP __attribute__((noinline)) static

KEEP void line(int n, const double *restrict a, double *restrict b, double *restrict c, double *restrict d) {
  for (int i = 0; i < n; i++)
    b[i] = a[i] * 2 + 1;
  for (int i = 0; i < n; i++)
    c[i] = b[i] * b[i];
  for (int i = 0; i < n; i++)
    d[i] = c[i] - a[i] + b[i];
}

KEEP void plane(int n, int m, double (*restrict a)[n], double (*restrict b)[n], double (*restrict c)[n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      b[i][j] = a[i][j] > 0.5 ? a[i][j] : 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      c[i][j] = b[i][j] + m;
  for (int i = 0; i < n - m; i++)
    for (int j = 0; j < n; j++)
      b[i][j] = c[i][j] * c[i][j];
}

KEEP void volume(int n, float (*restrict a)[n][n], float (*restrict b)[n][n], float (*restrict c)[n][n]) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        b[k][i][j] = a[k][i][j] * 2;
  for (int k = 1; k < n; k++)
    for (int i = 2; i < n; i++)
      for (int j = 3; j < n; j++)
        c[k][i][j] = b[k][i][j] + a[k][i][j];
}

KEEP void moved(int n, double *restrict a, double *restrict b, double *restrict c) {
  for (int i = 3; i < n; i++)
    b[i] = a[i - 3] + 1;
  for (int i = 0; i < n - 3; i++)
    c[i] = b[i + 3] * 2;
  for (int i = 0; i < n; i++)
    a[i] = c[n - 1 - i];
}

KEEP void stages(int n, int m, double *restrict a, double *restrict b, double *restrict c) {
  for (int t = 0; t < m; t++) {
    for (int i = 0; i < n; i++)
      b[i] = a[i] * 0.5 + c[i];
    for (int i = 0; i < n; i++)
      a[i] = b[i] + 1;
    for (int i = 1; i < n - 1; i++)
      c[i] = (a[i - 1] + a[i + 1]) * 0.5;
  }
}

KEEP void updates(int n, double *restrict a, double *restrict b, double *restrict c) {
  for (int i = 1; i < n; i++)
    b[i] = a[i - 1] + a[i];
  for (int i = 0; i < n; i++)
    a[i] = c[i];
  for (int i = 0; i < n; i++)
    c[i] = a[i] + b[i];
}

KEEP void turned(int n, double (*restrict a)[n], double (*restrict b)[n], double (*restrict c)[n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      b[i][j] = a[i][j] + 1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      c[i][j] = b[j][i] * 2;
}

KEEP void borders(int n, double (*restrict a)[n], double (*restrict b)[n]) {
  for (int j = 0; j < n; j++)
    a[0][j] = 1;
  for (int i = 0; i < n; i++)
    a[i][0] += 2;
  for (int i = 0; i < n; i++) {
    double v = a[i][i];
    for (int j = 0; j < n; j++)
      b[i][j] = v * a[i][j];
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 37), m = (int)example_arg(argc, argv, 2, 5);
  size_t square = (size_t)n * n, cube = square * n;
  double *a[4];
  for (int k = 0; k < 4; k++) {
    a[k] = example_array(square);
    example_fill(a[k], square);
  }
  float *f[3];
  for (int k = 0; k < 3; k++) {
    f[k] = malloc((cube + 1) * sizeof(float));
    for (size_t i = 0; i < cube; i++)
      f[k][i] = (float)((i * 7 + k) % 11) * 0.25f;
  }
  line(n, a[0], a[1], a[2], a[3]);
  if (n > 0) {
    plane(n, m, (void *)a[0], (void *)a[1], (void *)a[2]);
    volume(n, (void *)f[0], (void *)f[1], (void *)f[2]);
    moved(n, a[0], a[1], a[2]);
    stages(n, m, a[1], a[2], a[3]);
    updates(n, a[2], a[0], a[3]);
    turned(n, (void *)a[0], (void *)a[1], (void *)a[2]);
    borders(n, (void *)a[2], (void *)a[3]);
  }
  for (int k = 0; k < 4; k++) {
    example_print("array", a[k], square);
    free(a[k]);
  }
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    for (size_t i = 0; i < cube; i++)
      sum += f[k][i] * (double)(i % 13);
    free(f[k]);
  }
  example_print("sum", &sum, 1);
  return 0;
}
