// Matrices at places in a workspace that are arguments: rows as long as the loop over columns, so that a place is no column. Each is an array of its own where their ranges
// are apart, in either order; by one element less, or at one place, the original loop runs.
// ARGS: 20 30 2000 0
// ARGS: 20 30 0 2000
// ARGS: 20 30 600 0
// ARGS: 20 30 599 0
// ARGS: 20 30 0 599
// ARGS: 20 30 7 7
// ARGS: 20 30 30 0
// ARGS: 1 5 6 1
// ARGS: 3 2 40 1
// ARGS: 0 4 9 0
// OFFLOAD: partial
// FALLBACK: overlap
// KERNELS: copied inner smoothed exchanged masked three rows_ahead boxes
#include "example.h"

__attribute__((noinline)) static void copied(int m, int n, int p, int q, TYPE *w, const TYPE *d) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      w[p + i * n + j] = w[q + i * n + j] * 2 + d[j];
}

__attribute__((noinline)) static void inner(int m, int n, int p, int q, TYPE *w, const TYPE *d) {
  for (int i = 1; i < m - 1; i++)
    for (int j = 1; j < n - 1; j++)
      w[p + i * n + j] = w[q + (i - 1) * n + j] + w[q + i * n + j + 1] - d[j];
}

__attribute__((noinline)) static void smoothed(int m, int n, int p, int q, TYPE *w, const TYPE *d) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      w[p * m + i * n + j] = w[q * m + i * n + j] * (TYPE)0.5 + d[j];
}

__attribute__((noinline)) static void exchanged(int m, int n, int p, int q, TYPE *w, const TYPE *d) {
  for (int t = 0; t < 4; t++) {
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++)
        w[p + i * n + j] = w[q + i * n + j] * (TYPE)0.5 + d[j];
    int r = p;
    p = q;
    q = r;
  }
}

__attribute__((noinline)) static void masked(int m, int n, int p, int q, TYPE *w, const TYPE *d) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      if (w[q + i * n + j] > d[j])
        w[p + i * n + j] = w[q + i * n + j] - 1;
}

// One matrix is updated, another one takes its values, and a third one is read.
__attribute__((noinline)) static void three(int m, int n, int p, int q, int r, TYPE *w) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      w[p + i * n + j] += w[r + i * n + j];
      w[q + i * n + j] = w[p + i * n + j] * 3;
    }
}

// Rows of one matrix, however many ahead: no two arrays.
__attribute__((noinline)) static void rows_ahead(int m, int n, int k, TYPE *w, const TYPE *d) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      w[i * n + j] = w[(i + k) * n + j] + d[j];
}

__attribute__((noinline)) static void boxes(int m, int n, int p, int q, TYPE *w, const TYPE *d) {
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++)
        w[p + (k * m + i) * n + j] = w[q + (k * m + i) * n + j] + d[j];
}

int main(int argc, char **argv) {
  int m = (int)example_arg(argc, argv, 1, 20), n = (int)example_arg(argc, argv, 2, 30);
  int p = (int)example_arg(argc, argv, 3, 2000), q = (int)example_arg(argc, argv, 4, 0);
  size_t size = 60000;
  TYPE *w = example_array(size), *d = example_array((size_t)n + 1);
  example_fill(d, (size_t)n + 1);
  for (int k = 0; k < 8; k++) {
    example_fill(w, size);
    switch (k) {
    case 0: copied(m, n, p, q, w, d); break;
    case 1: inner(m, n, p, q, w, d); break;
    case 2: smoothed(m, n, p, q, w, d); break;
    case 3: exchanged(m, n, p, q, w, d); break;
    case 4: masked(m, n, p, q, w, d); break;
    case 5: three(m, n, p, q, 2 * (p > q ? p : q), w); break;
    case 6: rows_ahead(m, n, p > q ? p / 100 : q / 100, w, d); break;
    case 7: boxes(m, n, p, q, w, d); break;
    }
    example_print("w", w, size);
  }
}
