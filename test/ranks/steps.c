// Steps that exchange rows, results that are read in between, and a range that reaches into what lies beside it: `h` on the stack, whose
// neighbours are addresses, which each rank has of its own. What is printed before the first loop comes once.
#include "example.h"
#include <math.h>

__attribute__((noinline)) static void steps(int n, int m, int t, double (*restrict a)[m], double (*restrict b)[m]) {
  for (int k = 0; k < t; k++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        b[i][j] = 0.2 * a[i][j] + 0.3 * (a[i - 1][j] + a[i + 1][j]) + 0.1 * a[i][j - 1] * a[i][j + 1];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        a[i][j] = 0.5 * b[i][j] + 0.25 * b[i + 1][j - 1];
  }
}

__attribute__((noinline)) static void count(int n, int m, double (*restrict a)[m], int *restrict h) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      h[(int)(fabs(a[i][j]) * 3) % 16]++;
}

__attribute__((noinline)) static void product(int n, int m, double (*restrict c)[n], double (*restrict a)[m], double (*restrict b)[m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < m; k++)
        c[i][j] += a[i][k] * b[j][k];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 70, m = argc > 2 ? atoi(argv[2]) : 37, t = argc > 3 ? atoi(argv[3]) : 5, h[16] = {0};
  printf("%d x %d\n", n, m);
  fflush(stdout);
  size_t all = (size_t)n * m;
  double *a = example_array(all), *b = example_array(all), *c = example_array((size_t)n * n);
  example_fill(a, all), example_fill(b, all), example_fill(c, (size_t)n * n);
  for (int round = 0; round < 2; round++) {
    steps(n, m, t, (void *)a, (void *)b);
    product(n, m, (void *)c, (void *)a, (void *)b);
    if (all > 0)
      a[all / 2] += c[0];
    count(n, m, (void *)a, h);
  }
  example_print("a", a, all);
  example_print("c", c, (size_t)n * n);
  for (int i = 0; i < 16; i++)
    printf("%d\n", h[i]);
  return 0;
}
