// Loops over integers raise no floating-point exception, wherever they run: what pollyrs computes beside them (work, times, estimates) is not the program's.
// What the program has raised before stays raised.
// ARGS: 0 3
// ARGS: 7 5
// ARGS: 97 43
// OFFLOAD: yes
// KERNELS: shift transpose triangle product steps gather
#include "example.h"
#include <fenv.h>

#define KEEP __attribute__((noinline)) static

KEEP void shift(int n, int *restrict a, const int *restrict b) {
  for (int i = 0; i < n; ++i)
    a[i] = b[i] + 1;
}

KEEP void transpose(int n, int m, int a[restrict n][m], int b[restrict m][n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      a[i][j] = b[j][i] ^ 5;
}

KEEP void triangle(int n, int *restrict a, const int *restrict b) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      a[i] += b[j] * (i - j);
}

KEEP void product(int n, int m, unsigned a[restrict n][n], unsigned b[restrict n][m], unsigned c[restrict n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < m; ++k)
        a[i][j] += b[i][k] * c[j][k];
}

KEEP void steps(int n, int m, unsigned *restrict a, unsigned *restrict b) {
  for (int t = 0; t < m; ++t) {
    for (int i = 1; i < n - 1; ++i)
      b[i] = a[i - 1] + 3 * a[i] - a[i + 1];
    for (int i = 1; i < n - 1; ++i)
      a[i] = b[i];
  }
}

KEEP void gather(int n, int *restrict a, const int *restrict b, const int *restrict list) {
  for (int i = 0; i < n; ++i)
    a[i] = b[list[i]];
}

static void tell(const char *what) { printf("%s: %x\n", what, fetestexcept(FE_ALL_EXCEPT)); }

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 97), m = (int)example_arg(argc, argv, 2, 43);
  size_t size = (size_t)n * (n > m ? n : m) + 1;
  int *a = malloc(size * sizeof *a), *b = malloc(size * sizeof *b), *c = malloc(size * sizeof *c), *list = malloc(size * sizeof *list);
  for (size_t i = 0; i < size; ++i) {
    a[i] = (int)(i * 7919 % 1009);
    b[i] = (int)(i * 104729 % 997);
    c[i] = (int)(i * 31 % 613);
    list[i] = n ? (int)(i * 17 % (size_t)n) : 0;
  }
  for (int raised = 0; raised < 2; ++raised) {
    feclearexcept(FE_ALL_EXCEPT);
    if (raised)
      feraiseexcept(FE_DIVBYZERO | FE_INEXACT);
    shift(n, a, b);
    tell("shift");
    transpose(n, m, (int(*)[m])a, (int(*)[n])b);
    tell("transpose");
    triangle(n, a, b);
    tell("triangle");
    product(n, m, (unsigned(*)[n])a, (unsigned(*)[m])b, (unsigned(*)[m])c);
    tell("product");
    steps(n, m, (unsigned *)a, (unsigned *)b);
    tell("steps");
    gather(n, c, b, list);
    tell("gather");
  }
  unsigned sum = 0;
  for (size_t i = 0; i < size; ++i)
    sum = sum * 31 + (unsigned)a[i] + (unsigned)c[i];
  printf("%u\n", sum);
  free(a), free(b), free(c), free(list);
}
