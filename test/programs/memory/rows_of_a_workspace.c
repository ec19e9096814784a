// Matrices at places in a workspace whose rows are longer than the loop over columns: the row length is an argument, or a member, of its own, and a place may be larger than it. Each is
// an array of its own where their ranges are apart; columns of one matrix beside each other are not, and neither are rows that are shorter than the loop: the original loop runs.
// ARGS: 20 30 37 2000 0
// ARGS: 20 30 37 0 2000
// ARGS: 20 30 30 700 50
// ARGS: 20 30 37 733 0
// ARGS: 20 30 37 732 0
// ARGS: 20 10 37 3 20
// ARGS: 20 30 29 2000 0
// ARGS: 20 30 20 0 900
// ARGS: 20 30 37 7 7
// ARGS: 1 5 6 9 1
// ARGS: 0 4 9 9 0
// OFFLOAD: partial
// FALLBACK: overlap
// KERNELS: by_rows by_columns updated inner from_members
#include "example.h"

struct workspace {
  int p, q, row;
  TYPE *w;
};

__attribute__((noinline)) static void by_rows(int m, int n, int ld, int p, int q, TYPE *w, const TYPE *d) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      w[p + i * ld + j] = w[q + i * ld + j] * 2 + d[j];
}

__attribute__((noinline)) static void by_columns(int m, int n, int ld, int p, int q, TYPE *w, const TYPE *d) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++)
      w[p + i * ld + j] = w[q + i * ld + j] - d[j];
}

__attribute__((noinline)) static void updated(int m, int n, int ld, int p, int q, TYPE *w, const TYPE *d) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      w[p + i * ld + j] += w[q + i * ld + j] + d[j];
}

__attribute__((noinline)) static void inner(int m, int n, int ld, int p, int q, TYPE *w) {
  for (int i = 1; i < m - 1; i++)
    for (int j = 1; j < n - 1; j++)
      w[p + i * ld + j] = w[q + (i - 1) * ld + j] + w[q + i * ld + j + 1];
}

__attribute__((noinline)) static void from_members(int m, int n, struct workspace *s, const TYPE *d) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      s->w[s->p + i * s->row + j] = s->w[s->q + i * s->row + j] + d[j];
}

int main(int argc, char **argv) {
  int m = (int)example_arg(argc, argv, 1, 20), n = (int)example_arg(argc, argv, 2, 30), ld = (int)example_arg(argc, argv, 3, 37);
  int p = (int)example_arg(argc, argv, 4, 2000), q = (int)example_arg(argc, argv, 5, 0);
  size_t size = 60000;
  TYPE *w = example_array(size), *d = example_array((size_t)n + 1);
  example_fill(d, (size_t)n + 1);
  for (int k = 0; k < 5; k++) {
    example_fill(w, size);
    struct workspace s = {p, q, ld, w};
    switch (k) {
    case 0: by_rows(m, n, ld, p, q, w, d); break;
    case 1: by_columns(m, n, ld, p, q, w, d); break;
    case 2: updated(m, n, ld, p, q, w, d); break;
    case 3: inner(m, n, ld, p, q, w); break;
    case 4: from_members(m, n, &s, d); break;
    }
    example_print("w", w, size);
  }
}
