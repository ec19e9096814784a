// Parts of matrices as LAPACK passes them: a pointer to the first element and a leading dimension; interleaved complex numbers; batches, also of
// one matrix for all, whose stride is 0, which falls back.
// ARGS: 33 20 8
// ARGS: 1 1 1
// ARGS: 0 0 2
// ARGS: 17 12 5
// OFFLOAD: partial
// KERNELS: trailing rank_update lower complex_axpy batched swap_rows
#include "example.h"

typedef struct {
  double re, im;
} complex_t;

// The update behind a panel: A22 -= A21 * A12, each a pointer into one matrix.
__attribute__((noinline)) static void trailing(int m, int n, int k, double *a, int lda, int at) {
  const double *l = a + at * lda + at + k, *u = a + (at + k) * lda + at;
  double *c = a + (at + k) * lda + at + k;
  for (int j = 0; j < n; j++)
    for (int p = 0; p < k; p++)
      for (int i = 0; i < m; i++)
        c[i + j * lda] -= l[i + p * lda] * u[p + j * lda] * 0.125;
}

__attribute__((noinline)) static void rank_update(int n, int k, const double *a, int lda, double *c, int ldc) {
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++)
      for (int p = 0; p < k; p++)
        c[i + j * ldc] -= a[i + p * lda] * a[j + p * lda];
}

__attribute__((noinline)) static void lower(int n, int m, const double *l, int ldl, double *b, int ldb) {
  for (int j = 0; j < m; j++)
    for (int k = 0; k < n; k++)
      for (int i = k + 1; i < n; i++)
        b[i + j * ldb] -= b[k + j * ldb] * l[i + k * ldl] * 0.125;
}

__attribute__((noinline)) static void complex_axpy(int n, int m, complex_t s, const complex_t *x, int ldx, complex_t *y, int ldy) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      complex_t v = x[i * ldx + j];
      y[i * ldy + j].re += s.re * v.re - s.im * v.im;
      y[i * ldy + j].im += s.re * v.im + s.im * v.re;
    }
}

__attribute__((noinline)) static void batched(int count, int n, int k, const double *a, int lda, long stride_a, const double *b, int ldb, long stride_b,
                                              double *c, int ldc, long stride_c) {
  for (int t = 0; t < count; t++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double sum = 0.0;
        for (int p = 0; p < k; p++)
          sum += a[t * stride_a + i * lda + p] * b[t * stride_b + p * ldb + j];
        c[t * stride_c + i * ldc + j] = sum;
      }
}

__attribute__((noinline)) static void swap_rows(int n, int r, int s, double *a, int lda) {
  for (int j = 0; j < n; j++) {
    double t = a[r + j * lda];
    a[r + j * lda] = a[s + j * lda];
    a[s + j * lda] = t;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 17), m = (int)example_arg(argc, argv, 2, 12), k = (int)example_arg(argc, argv, 3, 5);
  int ld = n + m + 2 * k;
  size_t all = (size_t)ld * ld;
  double *a = example_array(all), *b = example_array(3 * all), *c = example_array(3 * all);
  example_fill(a, all);
  example_fill(b, 3 * all);
  example_fill(c, 3 * all);
  trailing(n, m, k, a, ld, 1);
  example_print("trailing", a, all);
  rank_update(n, k, a, ld, b, ld);
  example_print("rank", b, all);
  lower(n, m, a, ld, b, ld);
  example_print("lower", b, all);
  complex_t s = {0.6, 0.8};
  complex_axpy(n, ld / 2, s, (complex_t *)a, ld / 2, (complex_t *)b, ld / 2);
  example_print("complex", b, all);
  batched(1 + (n < 20), n, k, c, ld, (long)ld * ld, a, ld, n < 20 ? 0 : (long)ld * ld, b, ld, (long)n * ld);
  if (n > 1)
    swap_rows(m, 0, n - 1, b, ld);
  example_print("b", b, 3 * all);
  free(a);
  free(b);
  free(c);
  return 0;
}
