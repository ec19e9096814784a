// Sums in their order over one axis of an array, and over two: rows stream through shared memory, whatever loops are around them.
//
// ARGS: 2 3 4
// ARGS: 0 0 0
// ARGS: 3 40 150
// ARGS: 33 2 200
// ARGS: 70 9 131
// OFFLOAD: yes
// KERNELS: last last_two first_two normalise weighted deep deeper
#include "example.h"
#include <math.h>

#define KEEP __attribute__((noinline)) static

KEEP void last(int n, int m, int l, TYPE a[n][m][l], TYPE *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      TYPE s = 0;
      for (int k = 0; k < l; k++)
        s += a[i][j][k];
      out[i * m + j] = s;
    }
}

KEEP void last_two(int n, int m, int l, TYPE a[n][m][l], TYPE *out) {
  for (int i = 0; i < n; i++) {
    TYPE s = 0;
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++)
        s += a[i][j][k];
    out[i] = s;
  }
}

KEEP void first_two(int n, int m, int l, TYPE a[n][m][l], TYPE *out) {
  for (int k = 0; k < l; k++) {
    TYPE s = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        s += a[i][j][k];
    out[k] = s;
  }
}

// Channels of several images, each with its mean and deviation.
KEEP void normalise(int n, int c, int l, TYPE x[n][c][l], TYPE *g) {
  for (int k = 0; k < c; k++) {
    TYPE s = 0, q = 0;
    for (int i = 0; i < n; i++)
      for (int z = 0; z < l; z++) {
        s += x[i][k][z];
        q += x[i][k][z] * x[i][k][z];
      }
    TYPE mean = s / (n * l), r = 1 / (TYPE)sqrt(q / (n * l) - mean * mean + 1);
    for (int i = 0; i < n; i++)
      for (int z = 0; z < l; z++)
        x[i][k][z] = (x[i][k][z] - mean) * r * g[k];
  }
}

// A vector for each matrix, rows without a first part.
KEEP void weighted(int n, int m, int l, TYPE a[n][m][l], TYPE w[n][l], TYPE *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 3; k < l; k++)
        out[i * m + j] += a[i][j][k] * w[i][k];
}

// With three and four parallel loops.
KEEP void deep(int n, int m, int l, TYPE a[2][n][m][l], TYPE *out) {
  for (int h = 0; h < 2; h++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) {
        TYPE s = 0;
        for (int k = 0; k < l; k++)
          s += a[h][i][j][k];
        out[(h * n + i) * m + j] += s;
      }
}

KEEP void deeper(int n, int m, int l, int o, TYPE a[n][o][2][m][l], TYPE out[n][o][2][m]) {
  for (int i = 0; i < n; i++)
    for (int q = 0; q < o; q++)
      for (int h = 0; h < 2; h++)
        for (int j = 0; j < m; j++)
          for (int k = 1; k < l; k++)
            out[i][q][h][j] -= a[i][q][h][j][k];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 3, m = argc > 2 ? atoi(argv[2]) : 40, l = argc > 3 ? atoi(argv[3]) : 150;
  size_t all = (size_t)n * m * l * 6, outs = ((size_t)n * m + l + n) * 6;
  TYPE *a = example_array(all), *w = example_array((size_t)n * l), *g = example_array(m), *out = example_array(outs);
  example_fill(a, all);
  example_fill(w, (size_t)n * l);
  example_fill(g, m);
  example_fill(out, outs);
  last(n, m, l, (void *)a, out);
  printf("%016llx\n", (unsigned long long)example_hash(out, outs * sizeof(TYPE)));
  last_two(n, m, l, (void *)a, out);
  printf("%016llx\n", (unsigned long long)example_hash(out, outs * sizeof(TYPE)));
  first_two(n, m, l, (void *)a, out);
  printf("%016llx\n", (unsigned long long)example_hash(out, outs * sizeof(TYPE)));
  weighted(n, m, l, (void *)a, (void *)w, out);
  printf("%016llx\n", (unsigned long long)example_hash(out, outs * sizeof(TYPE)));
  deep(n, m, l, (void *)a, out);
  deeper(n, m, l, 3, (void *)a, (void *)out);
  printf("%016llx\n", (unsigned long long)example_hash(out, outs * sizeof(TYPE)));
  normalise(n, m, l, (void *)a, g);
  printf("%016llx\n", (unsigned long long)example_hash(a, all * sizeof(TYPE)));
  free(a);
  free(w);
  free(g);
  free(out);
  return 0;
}
