// Rows of tables that lie anywhere: allocated one by one and shuffled, permuted between calls, shared by tables and within one, freed and allocated again,
// reached by a pointer of their own as well, in the table's own memory, and short ones in front of a page that nobody may read.
// ARGS: 33 17
// ARGS: 17 64
// ARGS: 1 1
// ARGS: 0 3
// ARGS: 3 2
// OFFLOAD: partial
#define _GNU_SOURCE
#include "example.h"
#include <sys/mman.h>

static unsigned state = 7;

static int below(int n) { return (int)((state = state * 1664525u + 1013904223u) >> 8) % (n > 0 ? n : 1); }

static void shuffle(int n, double **a) {
  for (int i = n - 1; i > 0; --i) {
    int k = below(i + 1);
    double *row = a[i];
    a[i] = a[k];
    a[k] = row;
  }
}

static double *row_of(int m) {
  double *row = malloc((m + 1 + below(5)) * sizeof *row);
  for (int j = 0; j < m; ++j)
    row[j] = below(2000) / 1000.0 - 1;
  return row;
}

static double **matrix(int n, int m) {
  double **a = malloc((n + 1) * sizeof *a);
  for (int i = 0; i < n; ++i)
    a[i] = row_of(m);
  shuffle(n, a);
  return a;
}

static void print(const char *name, int n, int m, double **a) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      sum = sum * 0.999 + a[i][j] * (1 + (3 * i + j) % 11);
  printf("%s %.17g\n", name, sum);
}

__attribute__((noinline)) static void product(int n, int m, int p, double **C, double **A, double **B) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      double sum = 0.0;
      for (int k = 0; k < p; ++k)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}

__attribute__((noinline)) static void step(int n, int m, double **u, double **v) {
  for (int i = 1; i < n - 1; ++i)
    for (int j = 1; j < m - 1; ++j)
      v[i][j] = 0.2 * (u[i][j] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}

__attribute__((noinline)) static void scale(int n, int m, double **a, double by) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      a[i][j] = by * a[i][j] + i - j;
}

__attribute__((noinline)) static void triangle(int n, double **a, double **b) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      b[i][j] = 2 * a[i][j] + j;
}

// The host looks at some of it between the steps, and another nest reaches a row by itself.
__attribute__((noinline)) static void steps(int n, int m, double **u, double **v, double *row, int count) {
  for (int t = 0; t < count; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        v[i][j] = 0.2 * (u[i][j] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
    for (int j = 0; j < m; ++j)
      row[j] += 0.125 * j;
    double **other = u;
    u = v;
    v = other;
    if (t % 3 == 2) {
      printf("%.17g\n", u[n / 2][m / 2]);
      u[n / 2][m / 3] = t;
    }
  }
}

// Rows go and come between the executions.
__attribute__((noinline)) static void replaced(int n, int m, double **a, int count) {
  for (int t = 0; t < count; ++t) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        a[i][j] = 0.5 * a[i][j] + t;
    int k = below(n);
    double *fresh = row_of(m);
    fresh[0] += a[k][m - 1];
    free(a[k]);
    a[k] = fresh;
    shuffle(n, a);
  }
}

__attribute__((noinline)) static void floats(int n, int m, float **a, float **b) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      a[i][j] = a[i][j] * 0.5f + b[n - 1 - i][j];
}

__attribute__((noinline)) static long integers(int n, int m, int **a) {
  long sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      sum += a[i][j] * (j + 1);
  return sum;
}

// The entries of the table are numbers to nobody but its last row.
__attribute__((noinline)) static void own_memory(int n, int m, double **a) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      a[i][j] = i + 0.5 * j;
}

static void types(int n, int m) {
  float **f = malloc((n + 1) * sizeof *f), **g = malloc((n + 1) * sizeof *g);
  int **k = malloc((n + 1) * sizeof *k);
  for (int i = n - 1; i >= 0; --i) {
    f[i] = malloc((m + 1 + below(9)) * sizeof **f);
    g[i] = malloc((m + 1 + below(9)) * sizeof **g);
    k[i] = malloc((m + 1 + below(9)) * sizeof **k);
    for (int j = 0; j < m; ++j)
      f[i][j] = below(100) / 8.0f, g[i][j] = below(100) / 4.0f, k[i][j] = below(1000);
  }
  floats(n, m, f, g);
  double sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      sum = sum * 0.999 + f[i][j];
  printf("floats %.17g\nintegers %ld\n", sum, integers(n, m, k));
}

// Each row ends with a page.
static void short_rows(int n) {
  double **a = malloc((n + 1) * sizeof *a), **b = malloc((n + 1) * sizeof *b);
  for (int i = n - 1; i >= 0; --i) {
    char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + 8192, 4096, PROT_NONE);
    a[i] = (double *)(pages + 8192) - (i + 1);
    b[i] = malloc((i + 1) * sizeof **b);
    for (int j = 0; j <= i; ++j)
      a[i][j] = below(100);
  }
  triangle(n, a, b);
  double sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      sum = sum * 0.999 + b[i][j];
  printf("triangle %.17g\n", sum);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17), most = n > m ? n : m;
  double **A = matrix(most, most), **B = matrix(most, most), **C = matrix(most, most);
  product(n, m, most, C, A, B);
  print("product", n, m, C);
  for (int t = 0; t < 3; ++t) {
    step(n, m, C, A);
    step(n, m, A, C);
    shuffle(n, t % 2 ? A : C);
  }
  print("steps", n, m, C);
  if (n > 0 && m > 0) {
    steps(n, m, A, B, A[n / 3], 7);
    steps(n, m, A, B, B[n - 1], 2);
    replaced(n, m, C, 5);
  }
  print("replaced", n, m, C);
  // Shared rows: read only, then written.
  double **D = malloc((most + 1) * sizeof *D);
  for (int i = 0; i < most; ++i)
    D[i] = i % 3 ? A[most - 1 - i] : B[i / 2];
  product(n, m, most, C, D, A);
  print("shared", n, m, C);
  product(n, m, most, D, A, B);
  print("written", n, m, D);
  scale(n, m, D, 0.5);
  print("scaled", n, m, D);
  for (int i = 0; i < most; ++i)
    D[i] = A[i / 2];
  product(n, m, most, C, D, D);
  print("twice", n, m, C);
  scale(n, m, D, 0.25);
  print("written twice", n, m, D);
  // Rows that overlap in part.
  double *block = row_of(most * 2 + 8);
  for (int i = 0; i < most; ++i)
    D[i] = block + (5 * i) % (most + 1);
  product(n, m, most, C, D, A);
  print("overlapping", n, m, C);
  scale(n, m, D, 0.25);
  print("overlapping and written", n, m, D);
  types(n, m);
  short_rows(n);
  double **own = malloc((2 * most + 8) * sizeof *own);
  for (int i = 0; i < n; ++i)
    own[i] = A[i];
  if (n > 0)
    own[n - 1] = (double *)own;
  own_memory(n, m, own);
  for (int j = 0; j < m; ++j)
    printf("%g ", n > 0 ? ((double *)own)[j] : 0.0);
  for (int i = 0; i < n - 1; ++i)
    own[i] = A[i];
  print("own memory", n - 1, m, own);
  return 0;
}
