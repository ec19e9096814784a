// Launches that several devices share, and those that one does alone, over the same arrays: time steps with borders that are set by themselves, a product, columns, sums,
// updates of elements that data chooses, a reversal; and what the program reads and changes in between.
// ARGS: 70 37 5
// ARGS: 3 3 2
// ARGS: 130 18 4
// OFFLOAD: yes
// KERNELS: steps product columns reverse
// DEVICES: 3
#include "example.h"
#include <math.h>

__attribute__((noinline)) static void steps(int n, int m, int t, double (*restrict a)[m], double (*restrict b)[m]) {
  for (int k = 0; k < t; k++) {
    for (int j = 0; j < m; j++) {
      a[0][j] = 0.5 * a[1][j];
      a[n - 1][j] = a[n - 2][j] + 0.25;
    }
    for (int i = 0; i < n; i++)
      a[i][0] = 0.75 * a[i][1];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        b[i][j] = sqrt(a[i][j] * a[i][j] + 0.2 * (a[i - 1][j] + a[i + 1][j]) * (a[i][j - 1] + a[i][j + 1]) + 1.0);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        a[i][j] = 0.25 * b[i][j] + 0.125 * b[i - 1][j];
  }
}

__attribute__((noinline)) static void product(int n, int m, double (*restrict c)[n], double (*restrict a)[m], double (*restrict b)[m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = c[i][j];
      for (int k = 0; k < m; k++)
        s += a[i][k] * b[j][k];
      c[i][j] = s;
    }
}

__attribute__((noinline)) static void columns(int n, int m, double (*restrict a)[m]) {
  for (int j = 0; j < m; j++)
    for (int i = 1; i < n; i++)
      a[i][j] += 0.5 * a[i - 1][j];
}

__attribute__((noinline)) static void reverse(int n, double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++)
    y[i] = 0.5 * x[n - 1 - i];
  for (int i = 0; i < n; i++)
    x[i] = y[n - 1 - i] + 0.25 * y[i];
}

__attribute__((noinline)) static void count(int n, int m, double (*restrict a)[m], int *restrict h) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      h[(int)(fabs(a[i][j]) * 3) % 16]++;
}

__attribute__((noinline)) static double sum(int n, int m, double (*restrict a)[m]) {
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      s += a[i][j];
  return s;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 70, m = argc > 2 ? atoi(argv[2]) : 37, t = argc > 3 ? atoi(argv[3]) : 5, h[16] = {0};
  size_t all = (size_t)n * m, square = (size_t)n * n;
  double *a = example_array(all), *b = example_array(all), *c = example_array(square), *d = example_array(square);
  example_fill(a, all), example_fill(b, all), example_fill(c, square), example_fill(d, square);
  for (int round = 0; round < 2; round++) {
    steps(n, m, t, (void *)a, (void *)b);
    product(n, m, (void *)c, (void *)a, (void *)b);
    columns(n, m, (void *)a);
    a[all / 2] = round;
    reverse(n * n, c, d);
    count(n, m, (void *)a, h);
    double s = sum(n, m, (void *)b);
    example_print("sum", &s, 1);
  }
  example_print("a", a, all);
  example_print("b", b, all);
  example_print("c", c, square);
  for (int i = 0; i < 16; i++)
    printf("%d\n", h[i]);
  return 0;
}
