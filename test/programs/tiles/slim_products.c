// Products with many rows and few columns, and with few rows and many columns: sizes on both sides of where slim tiles start, rests of tiles and of strips, transposed operands, batches, integers, a value and a bound behind the sum.
//
// ARGS: 5 3 4
// ARGS: 16384 8 9
// ARGS: 16383 9 4
// ARGS: 16500 33 5
// ARGS: 9 16400 7
// ARGS: 7 16400 3
// OFFLOAD: yes
// KERNELS: product transposed whole batches clipped
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void product(int n, int m, int l, float a[n][l], float b[l][m], float c[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float s = 0;
      for (int k = 0; k < l; k++)
        s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
}

KERNEL void transposed(int n, int m, int l, float a[l][n], float b[m][l], float c[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++)
        c[i][j] += a[k][i] * b[j][k];
}

KERNEL void whole(int n, int m, int l, int a[n][l], int b[l][m], int c[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      int s = 1;
      for (int k = 0; k < l; k++)
        s += (a[i][k] ^ b[k][j]) & 255;
      c[i][j] = s;
    }
}

KERNEL void batches(int n, int m, int l, float a[2][n][l], float b[2][l][m], float c[2][n][m]) {
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) {
        float s = 0;
        for (int k = 0; k < l; k++)
          s += a[t][i][k] * b[t][k][j];
        c[t][i][j] = s;
      }
}

KERNEL void clipped(int n, int m, int l, float a[n][l], float b[l][m], float bias[m], float c[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float s = bias[j];
      for (int k = 0; k < l; k++)
        s += a[i][k] * b[k][j];
      c[i][j] = s > 0 ? s : 0;
    }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 16384), m = (int)example_arg(argc, argv, 2, 8), l = (int)example_arg(argc, argv, 3, 9);
  size_t rows = (size_t)2 * n * l, columns = (size_t)2 * m * l + m, all = (size_t)2 * n * m;
  float *a = malloc((rows + 1) * sizeof *a), *b = malloc((columns + 1) * sizeof *b), *c = malloc((all + 1) * sizeof *c);
  int *x = malloc((rows + 1) * sizeof *x), *y = malloc((columns + 1) * sizeof *y), *z = malloc((all + 1) * sizeof *z);
  for (size_t i = 0; i < rows; ++i) {
    a[i] = (float)example_uniform();
    x[i] = (int)example_bits();
  }
  for (size_t i = 0; i < columns; ++i) {
    b[i] = (float)example_uniform();
    y[i] = (int)example_bits();
  }
  product(n, m, l, (void *)a, (void *)b, (void *)c);
  printf("product %016llx\n", (unsigned long long)example_hash(c, all / 2 * sizeof *c));
  transposed(n, m, l, (void *)a, (void *)b, (void *)c);
  printf("transposed %016llx\n", (unsigned long long)example_hash(c, all / 2 * sizeof *c));
  whole(n, m, l, (void *)x, (void *)y, (void *)z);
  printf("whole %016llx\n", (unsigned long long)example_hash(z, all / 2 * sizeof *z));
  batches(n, m, l, (void *)a, (void *)b, (void *)c);
  printf("batches %016llx\n", (unsigned long long)example_hash(c, all * sizeof *c));
  clipped(n, m, l, (void *)a, (void *)b, b + 2 * m * l, (void *)c);
  printf("clipped %016llx\n", (unsigned long long)example_hash(c, all / 2 * sizeof *c));
  free(a), free(b), free(c), free(x), free(y), free(z);
  return 0;
}
