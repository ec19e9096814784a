// Matrices as tables of pointers to rows: rows of one block, rows that were allocated one by one, in descending order, at uneven distances, closer
// than they are long, shared by two tables or within one, tables whose entries change in the loop, and tables that nobody may read.
// ARGS: 33 17
// ARGS: 2 3
// ARGS: 40 65
// ARGS: 0 4
// OFFLOAD: partial
#include "example.h"

__attribute__((noinline)) static void product(int n, int m, int p, double **C, double **A, double **B) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      double sum = 0.0;
      for (int k = 0; k < p; ++k)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}

__attribute__((noinline)) static void relax(int n, int m, double **u, double **v, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        v[i][j] = 0.2 * (u[i][j] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        u[i][j] = v[i][j];
  }
}

__attribute__((noinline)) static void mirror(int n, int m, float **A) {
  for (int i = n - 1; i >= 0; --i)
    for (int j = 0; j < m; ++j)
      A[i][j] = A[i][j] * 0.5f + (float)(i - j);
}

__attribute__((noinline)) static void every_other(int n, int m, int **A, int **B) {
  for (int i = 0; i + 1 < n; i += 2)
    for (int j = 0; j < m; ++j)
      A[i][j] += B[i + 1][j] * 3;
}

// The rows rotate while they are written.
__attribute__((noinline)) static void rotate(int n, int m, double **A) {
  for (int i = 0; i + 1 < n; ++i) {
    for (int j = 0; j < m; ++j)
      A[i][j] += 0.5 * A[i + 1][j];
    double *row = A[i];
    A[i] = A[i + 1];
    A[i + 1] = row;
  }
}

// Nothing of the second table is read where `p` is not positive.
__attribute__((noinline)) static void guarded(int n, int m, int p, double **A, double **B) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      A[i][j] *= 0.5;
      if (p > 0)
        A[i][j] += B[i][j];
    }
}

static double *room(int n, int m) {
  double *block = example_array((size_t)n * m);
  example_fill(block, (size_t)n * m);
  return block;
}

static double **table(int n, double *block, const int *places, int distance) {
  double **rows = malloc((n + 1) * sizeof *rows);
  for (int i = 0; i < n; ++i)
    rows[i] = block + (size_t)distance * (places ? places[i] : i);
  rows[n] = NULL;
  return rows;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17), most = n > m ? n : m;
  size_t count = (size_t)(2 * most + 3) * (most + 5);
  double *X = room(2 * most + 3, most + 5), *Y = room(2 * most + 3, most + 5), *Z = room(2 * most + 3, most + 5);
  int *down = malloc((most + 1) * sizeof *down), *uneven = malloc((most + 1) * sizeof *uneven);
  for (int i = 0; i <= most; ++i) {
    down[i] = most - i;
    uneven[i] = 2 * i - (i % 3 == 1);
  }
  double **A = table(most, X, NULL, most), **B = table(most, Y, NULL, most + 5), **C = table(most, Z, NULL, most + 1);
  product(n, m, most, C, A, B);
  example_print("block", Z, count);
  relax(n, m, A, C, 4);
  example_print("relaxed", X, count);
  double **D = table(most, X, down, most), **U = table(most, Y, uneven, most), **T = table(most, Z, NULL, most > 3 ? most - 3 : 1);
  product(n, n, m, D, B, C);
  example_print("descending", X, count);
  product(n, m, n, U, A, C);
  example_print("uneven", Y, count);
  relax(n, most, T, B, 2);
  example_print("close", Z, count);
  product(n, n, n, A, A, A);
  example_print("in place", X, count);
  relax(n, m, B, B, 2);
  example_print("same", Y, count);
  rotate(n, m, A);
  example_print("rotated", X, count);
  guarded(n, m, 0, B, NULL);
  guarded(n, m, 0, B, (double **)64);
  guarded(n, m, 1, B, C);
  example_print("guarded", Y, count);
  float **F = malloc((most + 1) * sizeof *F);
  int **I = malloc((most + 1) * sizeof *I), **J = malloc((most + 1) * sizeof *J);
  float *f = malloc(count * sizeof *f);
  int *number = malloc(count * sizeof *number);
  for (size_t i = 0; i < count; ++i) {
    f[i] = (float)X[i];
    number[i] = (int)(1000 * Z[i]);
  }
  for (int i = 0; i < most; ++i) {
    F[i] = f + (size_t)i * (most + 2);
    I[i] = number + (size_t)2 * i * most;
    J[i] = number + (size_t)(2 * i + 1) * most;
  }
  mirror(n, m, F);
  every_other(n, m, I, J);
  double sum = 0.0;
  for (size_t i = 0; i < count; ++i)
    sum += f[i] * (double)(i % 7) + number[i] % 1000 * (double)(i % 5);
  printf("%.17g\n", sum);
  return 0;
}
