// Matrices as libraries lay them out: columns with a leading dimension, parts of larger matrices at an offset, blocks, batches.
// ARGS: 17 12 5
// ARGS: 1 1 1
// ARGS: 6 0 2
// ARGS: 33 20 8
// OFFLOAD: yes
// KERNELS: update solve part block blocked batch
#include "example.h"

#define A(i, j) a[(j) * lda + (i)]
#define B(i, j) b[(j) * ldb + (i)]

__attribute__((noinline)) static void update(int n, int k, double *a, int lda) {
  for (int j = k + 1; j < n; j++)
    for (int i = k + 1; i < n; i++)
      A(i, j) -= A(i, k) * A(k, j) * 0.125;
}

__attribute__((noinline)) static void solve(int n, int m, const double *a, int lda, double *b, int ldb) {
  for (int j = 0; j < m; j++)
    for (int k = 0; k < n; k++)
      for (int i = k + 1; i < n; i++)
        B(i, j) -= B(k, j) * A(i, k) * 0.125;
}

// Where the part begins is one number, as in work arrays.
__attribute__((noinline)) static void part(int n, int m, int offset, int ld, double *work) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      work[offset + i * ld + j] = work[offset + i * ld + j] * 0.5 + i - j;
}

__attribute__((noinline)) static void block(int bi, int bj, int bs, int ld, double *a) {
  for (int i = 0; i < bs; i++)
    for (int j = 0; j < bs; j++)
      a[(bi * bs + i) * ld + bj * bs + j] *= 2.0;
}

__attribute__((noinline)) static void blocked(int nb, int mb, int bs, double *a) {
  for (int p = 0; p < nb; p++)
    for (int q = 0; q < mb; q++)
      for (int i = 0; i < bs; i++)
        for (int j = 0; j < bs; j++)
          a[((p * mb + q) * bs + i) * bs + j] += i * 0.5 + j;
}

__attribute__((noinline)) static void batch(int count, int n, int m, double *a, int lda, size_t stride, double alpha) {
  for (int t = 0; t < count; t++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        a[t * stride + i * lda + j] *= alpha + t;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 17), m = (int)example_arg(argc, argv, 2, 12), s = (int)example_arg(argc, argv, 3, 5);
  int ld = n + m + 2 * s;
  size_t all = (size_t)ld * ld;
  double *a = example_array(all), *b = example_array(all), *c = example_array(3 * all);
  example_fill(a, all);
  example_fill(b, all);
  example_fill(c, 3 * all);
  update(n, 0, a, ld);
  solve(n, m, a, ld, b, ld);
  part(n, m, 2 * ld + s, ld, b);
  block(1, 1, s, ld, b);
  example_print("a", a, all);
  example_print("b", b, all);
  blocked(2, 3, s, c);
  batch(3, n, m, c, ld, all, 0.5);
  example_print("c", c, 3 * all);
  free(a);
  free(b);
  free(c);
  return 0;
}
