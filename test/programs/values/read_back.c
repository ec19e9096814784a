// Sums of what an iteration has just stored: the stored value is read back, so that the store's loop is parallel and the sum has a loop of its
// own. Also where a second store may have changed it, where the store is conditional, and where the value comes from the iteration before.
// ARGS: 37 41
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 300
// ARGS: 70 1
// ARGS: 33 257
// OFFLOAD: yes
// KERNELS: exponentials residual regrouped
#include "example.h"
#include <math.h>

#define FUNCTION __attribute__((noinline)) static

FUNCTION void exponentials(int n, int m, float A[n][m], float *restrict s) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int j = 0; j < m; ++j) {
      A[i][j] = sqrtf(fabsf(A[i][j]) + 0.5f) / 3;
      sum += A[i][j];
    }
    s[i] = sum;
  }
}

FUNCTION void residual(int n, int m, double a, double R[n][m], double Q[n][m], double *restrict norms) {
  for (int i = 0; i < n; ++i) {
    double rr = 0;
    for (int j = 0; j < m; ++j) {
      R[i][j] -= a * Q[i][j];
      rr += R[i][j] * R[i][j];
    }
    norms[i] = rr;
  }
}

FUNCTION double regrouped(int n, double a, double *restrict r, const double *restrict q, int *restrict count) {
#pragma clang fp reassociate(on)
  int positive = 0;
  for (int i = 0; i < n; ++i) {
    r[i] = r[i] * a + q[i];
    count[i] = r[i] > 0 ? i / 3 : 1;
    positive += count[i];
  }
  count[0] = positive;
  return positive;
}

FUNCTION void stored_twice(int n, int m, float A[n][2 * m], float *restrict s) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int j = 0; j < m; ++j) {
      float v = A[i][j] / 3;
      A[i][j] = v;
      A[i][m - 1 - j] = 0.25f;
      sum += v;
    }
    s[i] = sum;
  }
}

FUNCTION void conditional(int n, int m, float A[n][m], float *restrict s) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int j = 0; j < m; ++j) {
      float v = A[i][j] / 3;
      if (v > 0.1f)
        A[i][j] = v;
      sum += v;
    }
    s[i] = sum;
  }
}

FUNCTION void chained(int n, int m, double A[n][m], double *restrict s) {
  for (int i = 0; i < n; ++i) {
    double last = 1, sum = 0;
    for (int j = 0; j < m; ++j) {
      last = (A[i][j] + last) / 3;
      A[i][j] = last;
      sum += last;
    }
    s[i] = sum + last;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 37), m = (int)example_arg(argc, argv, 2, 41);
  size_t size = (size_t)n * 2 * m;
  double *R = example_array(size), *Q = example_array(size), *norms = example_array(size + 1);
  float *A = malloc((size + 1) * sizeof *A), *s = malloc((n + 1) * sizeof *s);
  int *count = calloc(size + 1, sizeof *count);
  example_fill(R, size);
  example_fill(Q, size);
  for (size_t i = 0; i < size; ++i)
    A[i] = (float)(R[i] + 0.3 * Q[i]);
  double sum = 0;
  exponentials(n, m, (void *)A, s);
  for (int i = 0; i < n; ++i)
    sum = sum * 0.7 + s[i];
  stored_twice(n, m, (void *)A, s);
  for (int i = 0; i < n; ++i)
    sum = sum * 0.7 + s[i];
  conditional(n, m, (void *)A, s);
  for (int i = 0; i < n; ++i)
    sum = sum * 0.7 + s[i];
  for (size_t i = 0; i < size; ++i)
    sum = sum * 0.99 + A[i];
  residual(n, m, 0.37, (void *)R, (void *)Q, norms);
  example_print("norms", norms, n);
  chained(n, m, (void *)Q, norms);
  example_print("chained", norms, n);
  example_print("Q", Q, size);
  sum += regrouped((int)size, 0.8, R, Q, count);
  for (size_t i = 0; i < size; ++i)
    sum = sum * 0.99 + count[i];
  example_print("R", R, size);
  example_print("sum", &sum, 1);
  return 0;
}
