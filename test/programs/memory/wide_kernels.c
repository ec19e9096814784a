// Loops that wait for memory, several points a thread: elements of all widths, rows that begin at any address, transpositions, permuted axes, windows, and sizes
// on both sides of a tile.
// ARGS: 130 257
// ARGS: 65 512
// ARGS: 64 63
// ARGS: 1 1
// ARGS: 300 1
// OFFLOAD: yes
#include "example.h"
#include <stdint.h>

#define KERNEL __attribute__((noinline)) static
#define MOVES(name, type, expression)                                                     \
  KERNEL void name(long n, type *restrict a, const type *restrict b) {                    \
    for (long i = 0; i < n; i++)                                                          \
      a[i] = (expression);                                                                \
  }                                                                                       \
  KERNEL void name##_rows(int n, int m, type a[n][m], type c[n][m]) {                     \
    for (int i = 0; i < n; i++)                                                           \
      for (int j = 0; j < m; j++) {                                                       \
        const type *b = c[i];                                                             \
        a[i][j] += b[j];                                                                  \
      }                                                                                   \
  }                                                                                       \
  KERNEL void name##_turned(int n, int m, type a[m][n], type b[n][m]) {                   \
    for (int i = 0; i < n; i++)                                                           \
      for (int j = 0; j < m; j++)                                                         \
        a[j][i] = b[i][j];                                                                \
  }                                                                                       \
  KERNEL void name##_added(int n, int m, type a[n][m], type b[m][n]) {                    \
    for (int i = 0; i < n; i++)                                                           \
      for (int j = 0; j < m; j++)                                                         \
        a[i][j] += b[j][i];                                                               \
  }

MOVES(bytes, uint8_t, b[i] ^ 255)
MOVES(shorts, int16_t, b[i] + 3)
MOVES(words, float, b[i] * 0.5f)
MOVES(doubles, double, b[i] * b[i])

KERNEL void permuted(int n, int m, float a[3][n][m], float b[n][m][3]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < 3; k++)
        a[k][i][j] = b[i][j][k];
}

KERNEL void rows_of_cubes(int n, int m, int c, float a[m][n][c], float b[n][m][c]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < c; k++)
        a[j][i][k] = b[i][j][k];
}

KERNEL void window(long n, int *restrict a, const int *restrict b) {
  for (long i = 3; i < n - 3; i++) {
    int s = 0;
    for (int k = -3; k <= 3; k++)
      s += b[i + k];
    a[i] = s;
  }
}

/* The thread's own element, and one of another thread that nobody writes. */
KERNEL void halves(long n, float *a) {
  for (long i = 0; i < n; i++)
    a[i] = a[i] + a[n + i];
}

KERNEL void backwards(long n, uint8_t *restrict a, const uint8_t *restrict b) {
  for (long i = 0; i < n; i++)
    a[i] = b[n - 1 - i];
}

/* Steps on the host, each a launch. */
KERNEL void steps(int t, int n, int m, float a[n][m], float b[n][m]) {
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        b[i][j] = 0.25f * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        a[i][j] = b[i][j] * 0.99f;
  }
}

int main(int argc, char **argv) {
  int n = example_arg(argc, argv, 1, 0), m = example_arg(argc, argv, 2, 0);
  long all = (long)n * m;
#define RUN(name, type)                                                                          \
  for (int shift = 0; shift < 2; shift++) {                                                      \
    type *a = malloc((all + 1) * sizeof *a), *b = malloc((all + 1) * sizeof *b);                 \
    for (long i = 0; i <= all; i++)                                                              \
      a[i] = (type)(i * 7 % 101), b[i] = (type)(i * 13 % 97);                                    \
    type *p = a + shift, *q = b + shift;                                                         \
    name(all, p, q);                                                                             \
    name##_rows(n, m, (void *)q, (void *)p);                                                     \
    name##_turned(n, m, (void *)p, (void *)q);                                                   \
    name##_added(n, m, (void *)q, (void *)p);                                                    \
    double s = 0;                                                                                \
    for (long i = 0; i <= all; i++)                                                              \
      s = s * 0.75 + (double)a[i] + 3 * (double)b[i];                                            \
    printf(#name " %d %.17g\n", shift, s);                                                       \
    free(a), free(b);                                                                            \
  }
  RUN(bytes, uint8_t)
  RUN(shorts, int16_t)
  RUN(words, float)
  RUN(doubles, double)
  float *f = malloc(3 * all * sizeof *f), *g = malloc(3 * all * sizeof *g);
  int *u = malloc(3 * all * sizeof *u), *v = malloc(3 * all * sizeof *v);
  for (long i = 0; i < 3 * all; i++)
    f[i] = i * 11 % 89, g[i] = i * 5 % 83, u[i] = i * 3 % 71, v[i] = i * 17 % 79;
  permuted(n, m, (void *)f, (void *)g);
  rows_of_cubes(n, m, 3, (void *)g, (void *)f);
  rows_of_cubes(3, n, m, (void *)f, (void *)g);
  rows_of_cubes(m / 16, 16, n, (void *)f, (void *)g);
  window(3 * all, u, v);
  halves(all, f);
  backwards(3 * all, (uint8_t *)v, (uint8_t *)u);
  steps(3, n, m, (void *)f, (void *)g);
  double s = 0;
  for (long i = 0; i < 3 * all; i++)
    s = s * 0.75 + f[i] + 3 * g[i] + 5 * (u[i] % 1000) + 7 * (v[i] % 1000);
  printf("all %.17g\n", s);
  free(f), free(g), free(u), free(v);
  return 0;
}
