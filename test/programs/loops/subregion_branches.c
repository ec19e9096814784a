// Branches on data whose arms store, and load what the other arm does not.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// ARGS: 257 5
// OFFLOAD: yes
#include "example.h"

/* The longest common subsequence of two texts: a wavefront. */
__attribute__((noinline)) static void common(int n, int m, const unsigned char *x, const unsigned char *y,
                                             int L[n + 1][m + 1]) {
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= m; ++j) {
      if (i == 0 || j == 0)
        L[i][j] = 0;
      else if (x[i - 1] == y[j - 1])
        L[i][j] = L[i - 1][j - 1] + 1;
      else
        L[i][j] = L[i - 1][j] > L[i][j - 1] ? L[i - 1][j] : L[i][j - 1];
    }
}

/* Local alignment with a store in one arm only, and a value that several arms choose. */
__attribute__((noinline)) static void align(int n, int m, const unsigned char *x, const unsigned char *y,
                                            int H[n + 1][m + 1], int hits[n + 1][m + 1]) {
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= m; ++j) {
      int best = 0, diagonal = H[i - 1][j - 1] + (x[i - 1] == y[j - 1] ? 3 : -2);
      if (diagonal > best)
        best = diagonal;
      else if (H[i - 1][j] - 1 > best)
        best = H[i - 1][j] - 1;
      else if (H[i][j - 1] - 1 > best) {
        best = H[i][j - 1] - 1;
        hits[i][j] = i - j;
      }
      H[i][j] = best;
    }
}

/* One arm a function of the left, the other of the right, both stores to different arrays. */
__attribute__((noinline)) static void sides(int n, int m, TYPE A[n][m], TYPE B[n][m], TYPE C[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 1; j < m - 1; ++j) {
      if (A[i][j] > (TYPE)0.1) {
        B[i][j] = A[i][j - 1] * 2;
        if (A[i][j - 1] < (TYPE)-0.5)
          C[i][j] = B[i][j] - 1;
      } else if (A[i][j] < (TYPE)-0.3)
        C[i][j + 1] = A[i][j + 1] + B[i][j];
      else
        B[i][j] = -B[i][j];
    }
}

/* A chain that stores, reads back and stores again. */
__attribute__((noinline)) static void clamp(int n, int m, TYPE A[n][m], TYPE B[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      B[i][j] = 1 / (1 + A[i][j] * 2);
      if (B[i][j] < 0)
        B[i][j] = 0;
      else if (B[i][j] > 1)
        B[i][j] = 1;
      A[i][j] += B[i][j];
    }
}

/* Sums and counts under a condition. */
__attribute__((noinline)) static void count(int n, int m, TYPE A[n][m], TYPE *sum, int *number) {
  for (int i = 0; i < n; ++i) {
    TYPE s = 0;
    int k = 0;
    for (int j = 0; j < m; ++j) {
      if (A[i][j] < (TYPE)0.2)
        continue;
      if (A[i][j] < (TYPE)0.6)
        s += A[i][j] * A[i][m - 1 - j];
      else
        ++k;
    }
    sum[i] = s;
    number[i] = k;
  }
}

/* The place of the least element of each row, by branches. */
__attribute__((noinline)) static void least(int n, int m, TYPE A[n][m], int *at) {
  for (int i = 0; i < n; ++i) {
    TYPE best = 100;
    int where = -1;
    for (int j = 0; j < m; ++j) {
      TYPE d = A[i][j] * A[i][j] - A[i][0];
      if (d < best) {
        best = d;
        where = j;
      }
    }
    at[i] = where;
  }
}

static void integers(const char *name, const int *a, size_t count) {
  printf("%s %016llx\n", name, (unsigned long long)example_hash(a, count * sizeof(int)));
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t size = (size_t)n * m, more = (size_t)(n + 1) * (m + 1);
  unsigned char *x = malloc(n + 1), *y = malloc(m + 1);
  for (int i = 0; i < n; ++i)
    x[i] = example_bits() % 3;
  for (int i = 0; i < m; ++i)
    y[i] = example_bits() % 3;
  int *L = calloc(more, sizeof(int)), *H = calloc(more, sizeof(int)), *hits = calloc(more, sizeof(int));
  common(n, m, x, y, (int(*)[m + 1])L);
  integers("common", L, more);
  align(n, m, x, y, (int(*)[m + 1])H, (int(*)[m + 1])hits);
  integers("align", H, more);
  integers("hits", hits, more);
  TYPE *A = example_array(size), *B = example_array(size), *C = example_array(size), *s = example_array(n);
  example_fill(A, size);
  example_fill(B, size);
  example_fill(C, size);
  sides(n, m, (TYPE(*)[m])A, (TYPE(*)[m])B, (TYPE(*)[m])C);
  example_print("B", B, size);
  example_print("C", C, size);
  clamp(n, m, (TYPE(*)[m])A, (TYPE(*)[m])B);
  example_print("A", A, size);
  example_print("B", B, size);
  int *number = calloc(n + 1, sizeof(int)), *at = calloc(n + 1, sizeof(int));
  count(n, m, (TYPE(*)[m])A, s, number);
  example_print("sum", s, n);
  integers("number", number, n);
  least(n, m, (TYPE(*)[m])A, at);
  integers("least", at, n);
  return 0;
}
