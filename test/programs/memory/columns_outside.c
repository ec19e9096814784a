// Rows between loaded bounds that are added up column by column, each an inner loop: products of a sparse matrix and a dense one, sums of rows of a table, means of coordinates, two results in one loop,
// maxima; and rows of which only the last one counts, which stay on the host.
// ARGS: 200
// ARGS: 33
// ARGS: 0
// OFFLOAD: yes
// KERNELS: product bags moved both greatest scaled
#include "example.h"

#define KERNEL __attribute__((noinline)) static

static unsigned number(unsigned most) {
  static unsigned long long state = 7;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % most;
}

KERNEL void product(int n, const int *start, const int *column, const TYPE *value, const TYPE (*x)[16], TYPE (*y)[16]) {
  for (int i = 0; i < n; ++i) {
    for (int c = 0; c < 16; ++c)
      y[i][c] = 0;
    for (int k = start[i]; k < start[i + 1]; ++k)
      for (int c = 0; c < 16; ++c)
        y[i][c] += value[k] * x[column[k]][c];
  }
}

KERNEL void bags(int n, const int *start, const int *index, const TYPE (*table)[48], TYPE (*y)[48]) {
  for (int b = 0; b < n; ++b) {
    TYPE sum[48] = {0};
    for (int k = start[b]; k < start[b + 1]; ++k)
      for (int c = 0; c < 48; ++c)
        sum[c] += table[index[k]][c];
    for (int c = 0; c < 48; ++c)
      y[b][c] = sum[c];
  }
}

/* Coordinates. */
KERNEL void moved(int n, const int *start, const int *neighbour, const TYPE (*x)[3], TYPE (*y)[3]) {
  for (int i = 0; i < n; ++i) {
    TYPE sum[3] = {0, 0, 0};
    int count = start[i + 1] - start[i];
    for (int k = start[i]; k < start[i + 1]; ++k)
      for (int d = 0; d < 3; ++d)
        sum[d] += x[neighbour[k]][d];
    for (int d = 0; d < 3; ++d)
      y[i][d] = count > 0 ? sum[d] / count : x[i][d];
  }
}

KERNEL void both(int n, const int *restrict start, const int *restrict column, const TYPE (*restrict x)[16], TYPE (*restrict y)[16], TYPE (*restrict z)[16]) {
  for (int i = 0; i < n; ++i)
    for (int k = start[i]; k < start[i + 1]; ++k)
      for (int c = 0; c < 16; ++c) {
        y[i][c] += x[column[k]][c];
        z[i][c] -= x[column[k]][c] * y[i][c];
      }
}

KERNEL void greatest(int n, const long *start, const int *column, const TYPE (*x)[16], TYPE (*y)[16]) {
  for (int i = 0; i < n; ++i)
    for (long k = start[i]; k < start[i + 1]; ++k)
      for (int c = 0; c < 16; ++c)
        y[i][c] = x[column[k]][c] > y[i][c] ? x[column[k]][c] : y[i][c];
}

KERNEL void last(int n, const int *start, const int *column, const TYPE (*x)[16], TYPE (*y)[16]) {
  for (int i = 0; i < n; ++i)
    for (int k = start[i]; k < start[i + 1]; ++k)
      for (int c = 0; c < 16; ++c)
        y[i][c] = x[column[k]][c] + 1;
}

KERNEL void scaled(int n, const int *start, const int *column, const TYPE *w, const TYPE (*x)[16], TYPE (*y)[16]) {
  for (int i = 0; i < n; ++i)
    for (int k = start[i]; k < start[i + 1]; ++k) {
      TYPE by = w[column[k]] / w[i];
      for (int c = 0; c < 16; ++c)
        y[i][c] = y[i][c] * by + x[k][c];
    }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 200);
  int *start = calloc((size_t)n + 1, sizeof *start), *column = calloc(9 * (size_t)n + 1, sizeof *column);
  long *wide = calloc((size_t)n + 1, sizeof *wide);
  for (int i = 0; i < n; ++i) {
    start[i + 1] = start[i] + (int)(number(9));
    wide[i + 1] = start[i + 1];
  }
  for (int k = 0; k < start[n]; ++k)
    column[k] = (int)(number((unsigned)n));
  size_t m = 16 * (size_t)(9 * n + 1);
  TYPE *x = example_array(m), *y = example_array(m), *z = example_array(m), *w = example_array(m);
  example_fill(x, m), example_fill(y, m), example_fill(z, m), example_fill(w, m);
  for (int i = 0; i < n; ++i)
    w[i] += 2;
#define RUN(name, ...) name(n, __VA_ARGS__), example_print(#name, y, m)
  RUN(product, start, column, w, (void *)x, (void *)y);
  RUN(bags, start, column, (void *)x, (void *)y);
  RUN(moved, start, column, (void *)x, (void *)y);
  RUN(both, start, column, (void *)x, (void *)y, (void *)z);
  example_print("both", z, m);
  RUN(greatest, wide, column, (void *)x, (void *)y);
  RUN(last, start, column, (void *)x, (void *)y);
  RUN(scaled, start, column, w, (void *)x, (void *)y);
  free(x), free(y), free(z), free(w), free(start), free(column), free(wide);
  return 0;
}
