// Reductions along rows and what uses their results, in order: softmax, layer norm, variance, sums that change the row in place, least elements, integers, parts of rows,
// and rows whose results the next row uses. A block has a few rows in shared memory where they fit; shorter and longer rows, and few of them, are launched.
//
// ARGS: 130 131
// ARGS: 128 128
// ARGS: 145 1024
// ARGS: 129 1025
// ARGS: 128 127
// ARGS: 127 300
// ARGS: 3 5
// OFFLOAD: yes
// TURNS: 3
// KERNELS: softmax layer variance in_place least signs integers part chained constant
#include "example.h"
#include <math.h>

#define KEEP __attribute__((noinline)) static

KEEP void softmax(int n, int m, const float (*restrict x)[m], float (*restrict y)[m]) {
  for (int i = 0; i < n; i++) {
    float most = x[i][0], sum = 0;
    for (int j = 1; j < m; j++)
      most = x[i][j] > most ? x[i][j] : most;
    for (int j = 0; j < m; j++) {
      float d = x[i][j] - most;
      y[i][j] = 1 / (1 + d * d);
      sum += y[i][j];
    }
    for (int j = 0; j < m; j++)
      y[i][j] /= sum;
  }
}

KEEP void layer(int n, int m, const float *restrict x, const float *g, const float *b, float *restrict y) {
  for (int i = 0; i < n; i++) {
    float mean = 0, var = 0;
    for (int j = 0; j < m; j++)
      mean += x[i * m + j];
    mean /= m;
    for (int j = 0; j < m; j++) {
      float d = x[i * m + j] - mean;
      var += d * d;
    }
    float scale = 1 / sqrtf(var / m + 1e-5f);
    for (int j = 0; j < m; j++)
      y[i * m + j] = (x[i * m + j] - mean) * scale * g[j] + b[j];
  }
}

KEEP void variance(int n, int m, const double (*restrict x)[m], double *restrict v, double (*restrict d)[m]) {
  for (int i = 0; i < n; i++) {
    double mean = 0;
    v[i] = 0;
    for (int j = 0; j < m; j++)
      mean += x[i][j];
    mean /= m;
    for (int j = 0; j < m; j++)
      d[i][j] = x[i][j] - mean;
    for (int j = 0; j < m; j++)
      v[i] += d[i][j] * d[i][j];
  }
}

KEEP void in_place(int n, int m, double (*restrict x)[m]) {
  for (int i = 0; i < n; i++) {
    double sum = 1;
    for (int j = 0; j < m; j++)
      sum += x[i][j] * x[i][j];
    for (int j = 0; j < m; j++)
      x[i][j] /= sum;
  }
}

KEEP void least(int n, int m, const float (*restrict x)[m], float (*restrict y)[m], float *restrict at) {
  for (int i = 0; i < n; i++) {
    float a = x[i][0];
    for (int j = 0; j < m; j++)
      a = fminf(a, x[i][j]);
    at[i] = a;
    for (int j = 0; j < m; j++)
      y[i][j] = x[i][j] - a;
  }
}

/* Largest elements, in parts: of zeros the first one counts, whatever its sign, a number that is none only in front; and the place of the least one. */
KEEP void signs(int n, int m, const double (*restrict x)[m], double (*restrict y)[m], double *restrict at) {
  for (int i = 0; i < n; i++) {
    double most = x[i][0], low = x[i][0];
    int place = 0;
    for (int j = 0; j < m; j++)
      most = x[i][j] > most ? x[i][j] : most;
    for (int j = 1; j < m; j++)
      if (x[i][j] < low) {
        low = x[i][j];
        place = j;
      }
    at[i] = place;
    for (int j = 0; j < m; j++)
      y[i][j] = 1 / (most + 0 * x[i][j] * place);
  }
}

KEEP void integers(int n, int m, int (*restrict x)[m], int (*restrict y)[m]) {
  for (int i = 0; i < n; i++) {
    int a = 0, b = 0;
    for (int j = 0; j < m; j++)
      a ^= x[i][j];
    for (int j = 0; j < m; j++)
      y[i][j] = x[i][j] & a;
    for (int j = 0; j < m; j++)
      b += y[i][j];
    for (int j = 0; j < m; j++)
      x[i][j] = y[i][j] - b;
  }
}

/* Of a row and the one before: what lies between the parts stays. */
KEEP void part(int n, int m, double (*restrict x)[m], double (*restrict y)[m]) {
  for (int i = 1; i < n; i++) {
    double sum = 1;
    for (int j = 2; j < m - 1; j++)
      sum += x[i - 1][j];
    for (int j = 2; j < m - 1; j++)
      y[i][j] = x[i - 1][j] / sum + y[i][j];
  }
}

KEEP void chained(int n, int m, double (*restrict x)[m], double *restrict s) {
  for (int i = 1; i < n; i++) {
    double sum = s[i - 1];
    for (int j = 0; j < m; j++)
      sum += x[i][j];
    s[i] = sum * 0.001;
    for (int j = 0; j < m; j++)
      x[i][j] -= s[i];
  }
}

/* Of constant sizes: what rows add up to stays with a thread. */
enum { ROWS = 200, COLUMNS = 160 };
static float fixed[ROWS][COLUMNS], scaled[ROWS][COLUMNS];
KEEP void constant(void) {
  for (int i = 0; i < ROWS; i++) {
    float mean = 0, var = 0;
    for (int j = 0; j < COLUMNS; j++)
      mean += fixed[i][j];
    mean /= COLUMNS;
    for (int j = 0; j < COLUMNS; j++) {
      float d = fixed[i][j] - mean;
      var += d * d;
    }
    for (int j = 0; j < COLUMNS; j++)
      scaled[i][j] = (fixed[i][j] - mean) / (var + 1);
  }
}

static void show(const char *name, const double *values, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += values[i] * (double)(i % 17 + 1);
  example_print(name, &sum, 1);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 130), m = (int)example_arg(argc, argv, 2, 131);
  size_t all = (size_t)n * m;
  double *x = example_array(all), *y = example_array(all), *v = example_array(n);
  float *f = malloc(all * sizeof(float)), *g = malloc(all * sizeof(float)), *h = malloc((n + m) * sizeof(float));
  int *p = malloc(all * sizeof(int)), *q = malloc(all * sizeof(int));
  example_fill(x, all);
  example_fill(y, all);
  example_fill(v, n);
  for (size_t i = 0; i < all; i++) {
    f[i] = (float)x[i];
    p[i] = (int)(i * 2654435761u % 1000);
  }
  for (int j = 0; j < n + m; j++)
    h[j] = (float)(j % 7);
  softmax(n, m, (void *)f, (void *)g);
  double sums[3] = {0, 0, 0};
  for (size_t i = 0; i < all; i++)
    sums[0] += g[i] * (double)(i % 13);
  layer(n, m, f, h, h + n, g);
  for (size_t i = 0; i < all; i++)
    sums[1] += g[i] * (double)(i % 13);
  least(n, m, (void *)g, (void *)f, h);
  for (size_t i = 0; i < all; i++)
    sums[2] += f[i] * (double)(i % 13);
  example_print("sums", sums, 3);
  variance(n, m, (void *)x, v, (void *)y);
  show("deviations", y, all);
  show("variance", v, n);
  in_place(n, m, (void *)x);
  show("in place", x, all);
  for (size_t i = 0; i < all; i++) {
    int j = (int)(i % m), row = (int)(i / m);
    double zero = (i * 40503u >> 7) % 3 ? -0.0 : 0.0;
    y[i] = j == row * 7 % (m + 3) ? __builtin_nan("") : row % 3 ? zero : zero - (double)(i * 2654435761u % 50);
  }
  signs(n, m, (void *)y, (void *)x, v);
  unsigned long long bits = 0;
  for (size_t i = 0; i < all; i++)
    bits = bits * 31 + (x[i] != x[i] ? 3 : x[i] > 0 ? 1 : 2);
  printf("signs %llu\n", bits);
  show("places", v, n);
  example_fill(x, all);
  example_fill(y, all);
  integers(n, m, (void *)p, (void *)q);
  long total = 0;
  for (size_t i = 0; i < all; i++)
    total += p[i] * (long)(i % 13) + q[i];
  printf("integers %ld\n", total);
  part(n, m, (void *)x, (void *)y);
  show("part", y, all);
  chained(n, m, (void *)x, v);
  show("chained", x, all);
  for (int i = 0; i < ROWS * COLUMNS; i++)
    fixed[i / COLUMNS][i % COLUMNS] = (float)(i % 29);
  constant();
  double of_constant = 0;
  for (int i = 0; i < ROWS * COLUMNS; i++)
    of_constant += scaled[i / COLUMNS][i % COLUMNS] * (double)(i % 13);
  example_print("constant", &of_constant, 1);
  free(x);
  free(y);
  free(v);
  free(f);
  free(g);
  free(h);
  free(p);
  free(q);
  return 0;
}
