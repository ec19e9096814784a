// Band matrices in LINPACK's and other storages, by flat subscripts: a counter strides over one element less than a column of the band has.
// ARGS: 40 3 2
// ARGS: 33 1 1
// ARGS: 9 0 0
// ARGS: 5 4 3
// ARGS: 1 2 1
// OFFLOAD: yes
// KERNELS: symmetric general transposed lower widened columns
#include "example.h"

/* Symmetric, the upper half by diagonals: y = A x. */
__attribute__((noinline)) static void symmetric(int n, int mu, double *restrict y, const double *a, const double *x) {
  for (int j = 0; j < n; j++)
    y[j] = a[mu + j * (mu + 1)] * x[j];
  for (int i = mu; 1 <= i; i--)
    for (int j = mu + 2 - i; j <= n; j++) {
      int equation = i + j - mu - 1;
      y[equation - 1] = y[equation - 1] + a[i - 1 + (j - 1) * (mu + 1)] * x[j - 1];
      y[j - 1] = y[j - 1] + a[i - 1 + (j - 1) * (mu + 1)] * x[equation - 1];
    }
}

/* General, with room for what pivoting fills: y = A x. */
__attribute__((noinline)) static void general(int n, int ml, int mu, double *restrict y, const double *a, const double *x) {
  for (int i = 1; i <= n; i++) {
    y[i - 1] = 0;
    int first = i - ml > 1 ? i - ml : 1, last = i + mu < n ? i + mu : n;
    for (int j = first; j <= last; j++)
      y[i - 1] += a[i - j + ml + mu + (j - 1) * (2 * ml + mu + 1)] * x[j - 1];
  }
}

/* y = A' x. */
__attribute__((noinline)) static void transposed(int n, int ml, int mu, double *restrict y, const double *a, const double *x) {
  for (int j = 1; j <= n; j++) {
    y[j - 1] = 0;
    int first = j - mu > 1 ? j - mu : 1, last = j + ml < n ? j + ml : n;
    for (int i = first; i <= last; i++)
      y[j - 1] += x[i - 1] * a[i - j + ml + mu + (j - 1) * (2 * ml + mu + 1)];
  }
}

/* Lower triangle. */
__attribute__((noinline)) static void lower(int n, int ml, double *restrict y, const double *a, const double *x) {
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = i - ml > 0 ? i - ml : 0; j <= i; j++)
      y[i] += a[i - j + j * (ml + 1)] * x[j];
  }
}

/* A band as a full matrix. */
__attribute__((noinline)) static void widened(int n, int ml, int mu, double *restrict full, const double *a) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++)
      if (i <= j + ml && j <= i + mu)
        full[i - 1 + (j - 1) * n] = a[ml + mu + i - j + (j - 1) * (2 * ml + mu + 1)];
      else
        full[i - 1 + (j - 1) * n] = 0;
}

/* The band in rows of its own width. */
__attribute__((noinline)) static void columns(int n, int ml, int mu, double *restrict a, const double *x) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= ml + mu; i++)
      a[i + j * (ml + mu + 1)] = x[j] * (i + 1);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 40), mu = (int)example_arg(argc, argv, 2, 3), ml = (int)example_arg(argc, argv, 3, 2);
  size_t size = (size_t)n * (2 * ml + mu + 1);
  double *a = example_array(size), *x = example_array(n), *y = example_array(n), *full = example_array((size_t)n * n);
  example_fill(a, size);
  example_fill(x, n);
  symmetric(n, mu, y, a, x);
  example_print("symmetric", y, n);
  general(n, ml, mu, y, a, x);
  example_print("general", y, n);
  transposed(n, ml, mu, y, a, x);
  example_print("transposed", y, n);
  lower(n, ml, y, a, x);
  example_print("lower", y, n);
  widened(n, ml, mu, full, a);
  example_print("widened", full, (size_t)n * n);
  columns(n, ml, mu, a, x);
  example_print("columns", a, (size_t)n * (ml + mu + 1));
}
