// Forms that textbooks and small programs have: matrices that begin at one (tables of rows, and pointers in front of the array), frames of a signal (that overlap
// by an argument in further runs), attention with heads side by side, rows of a triangle, copies of a whole array beside its rows and columns.
// ARGS: 12 4 9
// ARGS: 1 1 1
// ARGS: 33 8 8
// ARGS: 20 31 2
// OFFLOAD: partial
// KERNELS: product
// KERNELS: column_major
// KERNELS: frames
// KERNELS: relax.1
// KERNELS: relax.2
#include "example.h"
#include <math.h>
#include <string.h>

// Numerical Recipes: rows and columns 1..n.
static double **matrix(int rows, int columns) {
  double **table = malloc((size_t)rows * sizeof *table), *elements = example_array((size_t)rows * columns);
  example_fill(elements, (size_t)rows * columns);
  for (int i = 0; i < rows; i++)
    table[i] = elements + (size_t)i * columns - 1;
  return table - 1;
}

__attribute__((noinline)) static void product(double **a, double **b, double **c, int n, int m) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++) {
      double s = 0.0;
      for (int k = 1; k <= m; k++)
        s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
}

// f2c: a(i, j) of a column-major array.
__attribute__((noinline)) static void column_major(int n, double *a, double *x, double *y) {
  a -= 1 + n;
  --x;
  --y;
  for (int i = 1; i <= n; i++) {
    y[i] = 0;
    for (int j = 1; j <= n; j++)
      y[i] += a[i + j * n] * x[j];
  }
}

__attribute__((noinline)) static void frames(int count, int width, int hop, const float *x, const float *window, float *y, float *energy) {
  for (int i = 0; i < count; i++) {
    float sum = 0;
    for (int k = 0; k < width; k++) {
      y[i * width + k] = x[i * hop + k] * window[k];
      sum += y[i * width + k] * y[i * width + k];
    }
    energy[i] = sum;
  }
}

__attribute__((noinline)) static void attention(int length, int channels, int heads, const float *in, float *scores, float *out) {
  int size = channels / heads;
  float scale = 1.0f / sqrtf((float)size);
  for (int t = 0; t < length; t++)
    for (int h = 0; h < heads; h++) {
      const float *query = in + t * 3 * channels + h * size;
      float *row = scores + h * length * length + t * length, *to = out + t * channels + h * size;
      for (int u = 0; u <= t; u++) {
        const float *key = in + u * 3 * channels + h * size + channels;
        float sum = 0;
        for (int i = 0; i < size; i++)
          sum += query[i] * key[i];
        row[u] = sum * scale;
      }
      for (int i = 0; i < size; i++)
        to[i] = 0;
      for (int u = 0; u <= t; u++) {
        const float *value = in + u * 3 * channels + h * size + 2 * channels;
        for (int i = 0; i < size; i++)
          to[i] += row[u] * value[i];
      }
    }
}

// Rows grow: not equally far apart, found on the host.
__attribute__((noinline)) static void triangle(int n, double **l, const double *x, double *y) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      y[i * n + j] = l[i][j] * x[j];
}

// The time loop stays on the host, what is in it does not.
__attribute__((noinline)) static void relax(int steps, int n, int m, double *a, double *b) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        b[i * m + j] = 0.25 * (a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1]);
    memcpy(a, b, (size_t)n * m * sizeof *a);
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 12), m = (int)example_arg(argc, argv, 2, 9), k = (int)example_arg(argc, argv, 3, 4);
  double **a = matrix(n, m), **b = matrix(m, n), **c = matrix(n, n);
  product(a, b, c, n, m);
  example_print("c", &c[1][1], (size_t)n * n);
  double *x = example_array(n), *y = example_array((size_t)n * n);
  example_fill(x, n);
  example_fill(y, (size_t)n * n);
  column_major(n, &c[1][1], x, y);
  example_print("y", y, n);

  size_t samples = (size_t)n * k + m;
  float *signal = malloc(samples * sizeof *signal), *window = malloc(m * sizeof *window), *cut = malloc((size_t)n * m * sizeof *cut);
  float *energy = malloc(n * sizeof *energy);
  double *random = example_array(samples);
  example_fill(random, samples);
  for (size_t i = 0; i < samples; i++)
    signal[i] = (float)random[i];
  for (int i = 0; i < m; i++)
    window[i] = 1.0f / (float)(i + 1);
  frames(n, m, k, signal, window, cut, energy);
  if (m > k) // Frames that overlap: rows of no matrix, the original loop runs.
    frames(n / 2, m, 0, signal, window, cut, energy);
  for (int i = 0; i < n * m; i++)
    printf("%a\n", cut[i]);
  for (int i = 0; i < n; i++)
    printf("%a\n", energy[i]);

  int channels = 3 * k;
  size_t inputs = (size_t)n * 3 * channels;
  float *in = malloc(inputs * sizeof *in), *scores = calloc((size_t)k * n * n, sizeof *scores), *out = malloc((size_t)n * channels * sizeof *out);
  double *more = example_array(inputs);
  example_fill(more, inputs);
  for (size_t i = 0; i < inputs; i++)
    in[i] = (float)more[i];
  attention(n, channels, k, in, scores, out);
  for (int i = 0; i < n * channels; i++)
    printf("%a\n", out[i]);

  double **l = malloc(n * sizeof *l);
  for (int i = 0; i < n; i++) {
    l[i] = example_array(i + 1);
    example_fill(l[i], i + 1);
  }
  triangle(n, l, x, y);
  example_print("triangle", y, (size_t)n * n);
  double *u = example_array((size_t)n * m), *v = example_array((size_t)n * m);
  example_fill(u, (size_t)n * m);
  example_fill(v, (size_t)n * m);
  relax(3, n, m, u, v);
  example_print("u", u, (size_t)n * m);
  return 0;
}
