// Triangles large enough for several points a thread: points below and above the diagonal, sums whose length depends on the row or on the
// column, rows of a triangular matrix by a vector, a mirrored store, bands, a symmetric matrix of which one triangle is read. Sizes around tiles and strips.
// ARGS: 513 9
// ARGS: 520 8
// ARGS: 528 1
// ARGS: 545 17
// ARGS: 515 0
// ARGS: 1 3
// OFFLOAD: any
// TURNS: 3
#include "example.h"

// Points j <= i; both operands are rows of one matrix.
__attribute__((noinline)) static void lower(int n, int m, double A[restrict n][m], double C[restrict n][n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      for (int k = 0; k < m; ++k)
        C[i][j] += A[i][k] * A[j][k];
}

// Points j > i, and the result is mirrored.
__attribute__((noinline)) static void mirrored(int n, int m, float A[restrict m][n], float C[restrict n][n]) {
  for (int i = 0; i < n - 1; ++i)
    for (int j = i + 1; j < n; ++j) {
      C[i][j] = 0;
      for (int k = 0; k < m; ++k)
        C[i][j] += A[k][i] * A[k][j];
      C[j][i] = C[i][j];
    }
}

// Sums from the row on, and up to the column: all points have them, but different ones.
__attribute__((noinline)) static void sums(int n, double A[restrict n][n], double B[restrict n][n], double C[restrict n][n],
                                           double D[restrict n][n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      for (int k = i + 1; k < n; ++k)
        C[i][j] += A[i][k] * B[k][j];
      double s = 0;
      for (int k = 0; k <= j; ++k)
        s += B[i][k] * A[k][j];
      D[i][j] = s;
    }
}

// Two triangles at once: points j <= i and sums from j to i; elements on the diagonal are scaled.
__attribute__((noinline)) static void both(int n, int A[restrict n][n], int B[restrict n][n], int C[restrict n][n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      for (int k = j; k <= i; ++k)
        C[i][j] += A[i][k] * B[k][j];
      C[i][j] *= 3;
    }
}

// Rows of a triangular matrix by a vector.
__attribute__((noinline)) static void rows(int n, double A[restrict n][n], double *restrict x, double *restrict y) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      y[i] += A[i][j] * x[j];
}

// A band: few iterations a point.
__attribute__((noinline)) static void band(int n, double A[restrict n][n], double B[restrict n][n], double C[restrict n][n]) {
  for (int i = 2; i < n - 2; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = i - 2; k <= i + 2; ++k)
        C[i][j] += A[i][k] * B[k][j];
}

// Of A the lower triangle.
__attribute__((noinline)) static void symmetric(int n, int m, float A[restrict n][n], float B[restrict n][m], float C[restrict n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k)
        sum += (k <= i ? A[i][k] : A[k][i]) * B[k][j];
      C[i][j] = sum;
    }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 513), m = (int)example_arg(argc, argv, 2, 9);
  size_t nn = (size_t)n * n, nm = (size_t)n * m;
  double *A = example_array(nn), *B = example_array(nn), *C = example_array(nn), *D = example_array(nn);
  double *x = example_array(n), *y = example_array(n), *P = example_array(nm);
  float *Q = malloc(sizeof(float) * (nm + 1)), *R = malloc(sizeof(float) * nn);
  int *I = malloc(sizeof(int) * nn), *J = malloc(sizeof(int) * nn), *K = malloc(sizeof(int) * nn);
  example_fill(A, nn);
  example_fill(B, nn);
  example_fill(C, nn);
  example_fill(x, n);
  example_fill(y, n);
  example_fill(P, nm);
  for (size_t i = 0; i < nm; ++i) Q[i] = (float)example_uniform();
  for (size_t i = 0; i < nn; ++i) {
    R[i] = (float)example_uniform();
    I[i] = (int)(example_bits() & 1023);
    J[i] = (int)(example_bits() & 1023);
    K[i] = (int)(example_bits() & 1023);
  }
  if (m > 0) lower(n, m, (double(*)[m])P, (double(*)[n])C);
  example_print("lower", C, nn);
  if (m > 0) mirrored(n, m, (float(*)[n])Q, (float(*)[n])R);
  double sum = 0;
  for (size_t i = 0; i < nn; ++i) sum = sum * 0.999 + R[i] * (double)(i % 97);
  example_print("mirrored", &sum, 1);
  // (These two take n^3 steps, whatever m.)
  if (n < 514) sums(n, (double(*)[n])A, (double(*)[n])B, (double(*)[n])C, (double(*)[n])D);
  example_print("sums", C, nn);
  example_print("sums", D, nn);
  if (n < 514) both(n, (int(*)[n])I, (int(*)[n])J, (int(*)[n])K);
  sum = 0;
  for (size_t i = 0; i < nn; ++i) sum = sum * 0.999 + K[i];
  example_print("both", &sum, 1);
  rows(n, (double(*)[n])A, x, y);
  example_print("rows", y, n);
  if (n > 500) {
    int s = n - 380, columns = 130;
    float *S = malloc(sizeof(float) * s * columns);
    symmetric(s, columns, (float(*)[s])R, (float(*)[columns])(R + s * s), (float(*)[columns])S);
    printf("symmetric %016llx\n", (unsigned long long)example_hash(S, sizeof(float) * s * columns));
    free(S);
  }
  band(n, (double(*)[n])A, (double(*)[n])B, (double(*)[n])C);
  example_print("band", C, nn);
  return 0;
}
