// Loops whose number of iterations depends on data, inside parallel ones.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// ARGS: 257 5
// OFFLOAD: yes
#include "example.h"

/* The escape time of the Mandelbrot set, and the last value. */
__attribute__((noinline)) static void escape(int n, int m, int limit, int steps[n][m], TYPE last[n][m]) {
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < m; ++x) {
      TYPE cr = -2 + (TYPE)3 * x / m, ci = (TYPE)-1.5 + (TYPE)3 * y / n, zr = 0, zi = 0;
      int k = 0;
      while (k < limit && zr * zr + zi * zi < 4) {
        TYPE t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        ++k;
      }
      steps[y][x] = k;
      last[y][x] = zr - zi;
    }
}

/* Newton's iteration for square roots, until it stands still. */
__attribute__((noinline)) static void newton(int n, int m, TYPE A[n][m], TYPE R[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      TYPE a = A[i][j] < 0 ? -A[i][j] : A[i][j], r = a + 1;
      for (;;) {
        TYPE next = (r + a / r) / 2;
        if (!(next < r))
          break;
        r = next;
      }
      R[i][j] = r;
    }
}

/* Steps of the Collatz sequence; do-while with a branch inside. */
__attribute__((noinline)) static void collatz(int n, int *steps) {
  for (int i = 0; i < n; ++i) {
    unsigned long x = i + 1;
    int k = 0;
    while (x != 1) {
      x = x % 2 ? 3 * x + 1 : x / 2;
      ++k;
    }
    steps[i] = k;
  }
}

/* The first element of a row above a bound: a search that is left in the middle. */
__attribute__((noinline)) static void search(int n, int m, TYPE A[n][m], const TYPE *bound, int *at, TYPE *sum) {
  for (int i = 0; i < n; ++i) {
    int found = -1;
    for (int j = 0; j < m; ++j)
      if (A[i][j] > bound[i]) {
        found = j;
        break;
      }
    at[i] = found;
    TYPE s = 0;
    int j = 0;
    while (j < m && A[i][j] > (TYPE)-0.75)
      s += A[i][j++];
    sum[i] = s;
  }
}

/* A row is changed up to the first element that is large. */
__attribute__((noinline)) static void until(int n, int m, TYPE A[n][m], TYPE B[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      if (B[i][j] > (TYPE)0.75)
        break;
      A[i][j] += B[i][j];
    }
}

/* A sum over a row, where the row is of interest. */
__attribute__((noinline)) static void some_rows(int n, int m, TYPE A[n][m], const TYPE *bound, TYPE *sum) {
  for (int i = 0; i < n; ++i)
    if (bound[i] > 0) {
      TYPE s = 0;
      for (int j = 0; j <= i && j < m; ++j)
        if (A[i][j] != bound[i])
          s += A[i][j];
      sum[i] = s;
    }
}

/* Two loops on data in a row, the second one within a branch on data. */
__attribute__((noinline)) static void twice(int n, TYPE *A, const TYPE *B) {
  for (int i = 0; i < n; ++i) {
    TYPE x = B[i];
    while (x * x > (TYPE)0.01)
      x = x / 2 + x * x / 8;
    if (x > 0) {
      int k = 0;
      do
        x += (TYPE)0.125;
      while (x < B[i] && ++k < 20);
      A[i] = x + k;
    }
  }
}

/* Rows that are scaled, or not; and steps that are done, or not: the loops inside are sequential here and parallel there. */
__attribute__((noinline)) static void rows(int n, int m, TYPE A[n][m], const TYPE *bound) {
  for (int i = 0; i < n; ++i)
    if (bound[i] > 0)
      for (int j = 0; j < m; ++j)
        A[i][j] = A[i][j] * 2 - bound[i];
}

__attribute__((noinline)) static void steps_of_all(int n, int m, TYPE A[n][m], const TYPE *bound) {
  for (int t = 0; t < n; ++t)
    if (bound[t] > 0)
      for (int j = 0; j < m; ++j)
        A[0][j] = A[0][j] / 2 + bound[t];
}

static void integers(const char *name, const int *a, size_t count) {
  printf("%s %016llx\n", name, (unsigned long long)example_hash(a, count * sizeof(int)));
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t size = (size_t)n * m;
  int *steps = calloc(size + n + 1, sizeof(int));
  TYPE *A = example_array(size), *B = example_array(size), *bound = example_array(n), *sum = example_array(n);
  example_fill(A, size);
  example_fill(B, size);
  example_fill(bound, n);
  example_fill(sum, n);
  escape(n, m, 50, (int(*)[m])steps, (TYPE(*)[m])A);
  integers("escape", steps, size);
  example_print("last", A, size);
  example_fill(A, size);
  newton(n, m, (TYPE(*)[m])A, (TYPE(*)[m])B);
  example_print("newton", B, size);
  example_fill(B, size);
  collatz(n, steps);
  integers("collatz", steps, n);
  search(n, m, (TYPE(*)[m])A, bound, steps, sum);
  integers("search", steps, n);
  example_print("sum", sum, n);
  until(n, m, (TYPE(*)[m])A, (TYPE(*)[m])B);
  example_print("until", A, size);
  some_rows(n, m, (TYPE(*)[m])A, bound, sum);
  example_print("some rows", sum, n);
  rows(n, m, (TYPE(*)[m])A, bound);
  example_print("rows", A, size);
  if (size)
    steps_of_all(n, m, (TYPE(*)[m])A, bound);
  example_print("steps", A, size);
  twice(n, sum, bound);
  example_print("twice", sum, n);
  return 0;
}
