// Banded matrices: rows of kl + ku + 1, and LAPACK's columns with a leading dimension. Band widths beyond the matrix, and a leading dimension
// that is too small, so that columns overlap.
// ARGS: 33 3 2 8
// ARGS: 40 0 1 2
// ARGS: 5 9 7 17
// ARGS: 1 0 0 1
// ARGS: 20 4 3 6
// OFFLOAD: partial
// KERNELS: product scale general
// FALLBACK: stay inside its dimensions
#include "example.h"

__attribute__((noinline)) static void product(int n, int kl, int ku, const double *A, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    int first = i - kl < 0 ? 0 : i - kl, last = i + ku >= n ? n - 1 : i + ku;
    for (int j = first; j <= last; j++)
      s += A[i * (kl + ku + 1) + j - i + kl] * x[j];
    y[i] += s;
  }
}

__attribute__((noinline)) static void scale(int n, int kl, int ku, double *A, const double *d) {
  for (int i = 0; i < n; i++)
    for (int j = (i - kl < 0 ? 0 : i - kl); j <= (i + ku < n ? i + ku : n - 1); j++)
      A[i * (kl + ku + 1) + j - i + kl] *= d[j];
}

// Element (i, j) in row ku + i - j of column j.
__attribute__((noinline)) static void general(int n, int kl, int ku, double *ab, int ldab, const double *x) {
  for (int j = 0; j < n; j++) {
    int first = j - ku > 0 ? j - ku : 0, last = j + kl < n - 1 ? j + kl : n - 1;
    for (int i = first; i <= last; i++)
      ab[ku + i - j + j * ldab] = ab[ku + i - j + j * ldab] * x[j] + 0.25 * i;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), kl = (int)example_arg(argc, argv, 2, 3), ku = (int)example_arg(argc, argv, 3, 2);
  int ld = (int)example_arg(argc, argv, 4, 8);
  size_t count = (size_t)n * (kl + ku + 1), columns = (size_t)n * ld + kl + ku + 1;
  double *A = example_array(count), *x = example_array(n), *y = example_array(n), *ab = example_array(columns);
  example_fill(A, count);
  example_fill(x, n);
  example_fill(y, n);
  example_fill(ab, columns);
  product(n, kl, ku, A, x, y);
  scale(n, kl, ku, A, x);
  general(n, kl, ku, ab, ld, x);
  example_print("y", y, n);
  example_print("A", A, count);
  example_print("ab", ab, columns);
  free(A);
  free(x);
  free(y);
  free(ab);
  return 0;
}
