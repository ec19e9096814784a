// Grids whose cells are divided by an argument, or by what conditions choose: rows of (n - 1) * e + 1 elements, which are one parameter
// with the loops' bounds.
// ARGS: 23 2
// ARGS: 9 4
// ARGS: 5 1
// ARGS: 1 3
// ARGS: 7 0
// OFFLOAD: yes
// KERNELS: fill star chosen planes narrow
#include "example.h"

enum { RADIUS = 2 };

__attribute__((noinline)) static void fill(double *restrict a, const double *restrict b, long n, long e) {
  long m = (n - 1) * e + 1;
  for (long j = 0; j < m; j++)
    for (long i = 0; i < m; i++)
      a[i + j * m] = b[i + j * m] * 2;
}

__attribute__((noinline)) static void star(double *restrict a, const double *restrict b, long n, long e) {
  long m = (n - 1) * e + 1;
  for (long j = RADIUS; j < m - RADIUS; j++)
    for (long i = RADIUS; i < m - RADIUS; i++)
      for (long k = -RADIUS; k <= RADIUS; k++)
        a[i + j * m] += b[i + (j + k) * m] * (3 + k);
}

__attribute__((noinline)) static void chosen(double *restrict a, const double *restrict b, long n, int level) {
  long e = 1;
  for (int l = 0; l < level; l++)
    e *= 2;
  long m = (n - 1) * e + 1;
  for (long j = RADIUS; j < m - RADIUS; j++)
    for (long i = RADIUS; i < m - RADIUS; i++)
      for (long k = -RADIUS; k <= RADIUS; k++)
        a[i + j * m] += b[i + (j + k) * m] * (2 - k);
}

__attribute__((noinline)) static void planes(double *restrict a, const double *restrict b, long n, long e) {
  long m = (n - 1) * e + 1;
  for (long k = 1; k < 4; k++)
    for (long j = 0; j < m; j++)
      for (long i = 0; i < m; i++)
        a[i + (j + k * m) * m] += b[i + (j + (k - 1) * m) * m] / 4;
}

/* In 32 bits. */
__attribute__((noinline)) static void narrow(double *restrict a, const double *restrict b, int n, int e) {
  int m = (n - 1) * e + 1;
  for (int j = 0; j < m; j++)
    for (int i = 1; i < m; i++)
      a[i + j * m] -= b[i - 1 + j * m];
}

int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 5), e = example_arg(argc, argv, 2, 2), m = (n - 1) * e + 1;
  long full = (n - 1) * (e > 4 ? e : 4) + 1, all = 4 * full * full;
  double *a = calloc(all, sizeof *a), *b = malloc(all * sizeof *b);
  example_fill(b, all);
  fill(a, b, n, e);
  star(a, b, n, e);
  chosen(a, b, n, e > 2 ? 2 : (int)e);
  planes(a, b, n, e);
  narrow(a, b, (int)n, (int)e);
  printf("%ld %016llx\n", m, (unsigned long long)example_hash(a, all * sizeof *a));
  free(a);
  free(b);
}
