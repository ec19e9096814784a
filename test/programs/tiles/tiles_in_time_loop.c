// Products and matrix-vector products in a loop that carries their results: each launch has tiles, with the iteration as a parameter.
//
// ARGS: 20 3
// ARGS: 1 2
// ARGS: 515 2
// ARGS: 530 1
// OFFLOAD: yes
// TURNS: 3
// KERNELS: powers solve
#include "example.h"

#define KEEP __attribute__((noinline)) static

// b = a^p b
KEEP void powers(int n, int p, TYPE a[n][n], TYPE b[n][n], TYPE c[n][n]) {
  for (int t = 0; t < p; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        c[i][j] = 0;
        for (int k = 0; k < n; k++)
          c[i][j] += a[i][k] * b[k][j];
      }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        b[i][j] = c[i][j] / n;
  }
}

// Jacobi's method.
KEEP void solve(int n, int p, TYPE a[n][n], TYPE *x, TYPE *y, TYPE *r) {
  for (int t = 0; t < p; t++) {
    for (int i = 0; i < n; i++) {
      TYPE s = r[i];
      for (int j = 0; j < n; j++)
        s -= a[i][j] * x[j];
      y[i] = x[i] + s / (n + t);
    }
    for (int i = 0; i < n; i++)
      x[i] = y[i];
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 33, p = argc > 2 ? atoi(argv[2]) : 3;
  size_t all = (size_t)n * n;
  TYPE *a = example_array(all), *b = example_array(all), *c = example_array(all), *x = example_array(n), *y = example_array(n), *r = example_array(n);
  example_fill(a, all);
  example_fill(b, all);
  example_fill(x, n);
  example_fill(r, n);
  powers(n, p, (void *)a, (void *)b, (void *)c);
  solve(n, p, (void *)a, x, y, r);
  printf("%016llx %016llx\n", (unsigned long long)example_hash(b, all * sizeof(TYPE)), (unsigned long long)example_hash(x, n * sizeof(TYPE)));
  free(a);
  free(b);
  free(c);
  free(x);
  free(y);
  free(r);
  return 0;
}
