/* Many chains of dependences at once: small systems, lattices, tables, lines, and some single ones to compare with.
 * chains KERNEL M N [SEED]: M systems of size N. EXAMPLE_REPEAT in the environment: how often, each time on fresh data. */
#include "../examples/example.h"

#define KERNEL(name) __attribute__((noinline)) static void name(int m, int n, TYPE *p, TYPE *q, TYPE *r)

/* LU without pivoting of M matrices. */
KERNEL(lu) {
  TYPE(*a)[n][n] = (void *)p;
  for (int b = 0; b < m; b++)
    for (int k = 0; k < n; k++) {
      for (int i = k + 1; i < n; i++)
        a[b][i][k] /= a[b][k][k];
      for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j < n; j++)
          a[b][i][j] -= a[b][i][k] * a[b][k][j];
    }
}

/* The same, of matrices of constant size. */
KERNEL(lu32) {
  TYPE(*a)[32][32] = (void *)p;
  for (int b = 0; b < m; b++)
    for (int k = 0; k < 32; k++) {
      for (int i = k + 1; i < 32; i++)
        a[b][i][k] /= a[b][k][k];
      for (int i = k + 1; i < 32; i++)
        for (int j = k + 1; j < 32; j++)
          a[b][i][j] -= a[b][i][k] * a[b][k][j];
    }
}

/* L D L^T of M matrices. */
KERNEL(cholesky) {
  TYPE(*a)[n][n] = (void *)p;
  for (int b = 0; b < m; b++)
    for (int k = 0; k < n; k++) {
      for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j <= i; j++)
          a[b][i][j] -= a[b][i][k] * a[b][j][k] / a[b][k][k];
      for (int i = k + 1; i < n; i++)
        a[b][i][k] /= a[b][k][k];
    }
}

/* Triangular systems, by columns. */
KERNEL(solve) {
  TYPE(*a)[n][n] = (void *)p, (*x)[n] = (void *)q;
  for (int b = 0; b < m; b++)
    for (int k = 0; k < n; k++) {
      x[b][k] /= a[b][k][k];
      for (int i = k + 1; i < n; i++)
        x[b][i] -= a[b][i][k] * x[b][k];
    }
}

/* Option prices by binomial lattices, in place and by two lines; halved, so that none grows beyond a float. */
KERNEL(binomial) {
  TYPE(*v)[n + 1] = (void *)p;
  for (int o = 0; o < m; o++)
    for (int t = n; t > 0; t--)
      for (int i = 0; i < t; i++)
        v[o][i] = (TYPE)0.5 * (q[o] * v[o][i + 1] + r[o] * v[o][i]);
}
KERNEL(binomial2) {
  TYPE(*v)[n + 1] = (void *)p, (*w)[n + 1] = (void *)r;
  for (int o = 0; o < m; o++)
    for (int t = n; t > 0; t--) {
      for (int i = 0; i < t; i++)
        w[o][i] = (TYPE)0.5 * (q[o] * v[o][i + 1] + v[o][i]);
      for (int i = 0; i < t; i++)
        v[o][i] = w[o][i];
    }
}

/* Knapsacks of N items. */
KERNEL(knapsack) {
  TYPE(*value)[n + 1][1000] = (void *)p, (*worth)[n + 1] = (void *)q;
  for (int o = 0; o < m; o++)
    for (int k = 1; k <= n; k++) {
      for (int w = 0; w < 3; w++)
        value[o][k][w] = value[o][k - 1][w];
      for (int w = 3; w < 1000; w++) {
        TYPE with = value[o][k - 1][w - 3] + worth[o][k], without = value[o][k - 1][w];
        value[o][k][w] = with > without ? with : without;
      }
    }
}

/* Pairs of sequences of length N. */
KERNEL(align) {
  TYPE(*score)[n + 1][n + 1] = (void *)p, (*same)[n + 1][n + 1] = (void *)q;
  for (int o = 0; o < m; o++)
    for (int i = 1; i <= n; i++)
      for (int j = 1; j <= n; j++) {
        TYPE best = score[o][i - 1][j - 1] + same[o][i][j], gap = score[o][i - 1][j] - 1, other = score[o][i][j - 1] - 1;
        best = gap > best ? gap : best;
        score[o][i][j] = other > best ? other : best;
      }
}

/* N steps on grids of 30 x 30 inner points. */
KERNEL(heat) {
  TYPE(*u)[32][32] = (void *)p, (*v)[32][32] = (void *)q;
  for (int o = 0; o < m; o++)
    for (int t = 0; t < n; t++) {
      for (int i = 1; i < 31; i++)
        for (int j = 1; j < 31; j++)
          v[o][i][j] = u[o][i][j] + r[o] * (u[o][i - 1][j] + u[o][i + 1][j] + u[o][i][j - 1] + u[o][i][j + 1] - 4 * u[o][i][j]);
      for (int i = 1; i < 31; i++)
        for (int j = 1; j < 31; j++)
          u[o][i][j] = v[o][i][j];
    }
}

/* Shortest paths in M graphs. */
KERNEL(paths) {
  TYPE(*d)[n][n] = (void *)p;
  for (int b = 0; b < m; b++)
    for (int k = 0; k < n; k++)
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          d[b][i][j] = d[b][i][j] < d[b][i][k] + d[b][k][j] ? d[b][i][j] : d[b][i][k] + d[b][k][j];
}

static struct {
  const char *name;
  void (*run)(int, int, TYPE *, TYPE *, TYPE *);
  /* Elements of the arrays for m systems of size n, as m (a + b n + c n n). */
  int p[3], q[3], r[3];
} kernels[] = {
    {"lu", lu, {0, 0, 1}, {0}, {0}},
    {"lu32", lu32, {1024, 0, 0}, {0}, {0}},
    {"cholesky", cholesky, {0, 0, 1}, {0}, {0}},
    {"solve", solve, {0, 0, 1}, {0, 1, 0}, {0}},
    {"binomial", binomial, {1, 1, 0}, {1, 0, 0}, {1, 0, 0}},
    {"binomial2", binomial2, {1, 1, 0}, {1, 0, 0}, {1, 1, 0}},
    {"knapsack", knapsack, {1000, 1000, 0}, {1, 1, 0}, {0}},
    {"align", align, {1, 2, 1}, {1, 2, 1}, {0}},
    {"heat", heat, {1024, 0, 0}, {1024, 0, 0}, {1, 0, 0}},
    {"paths", paths, {0, 0, 1}, {0}, {0}},
};

static size_t elements(const int *of, long m, long n) { return (size_t)(m * (of[0] + of[1] * n + of[2] * n * n)); }

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  int m = atoi(argv[2]), n = atoi(argv[3]);
  const char *again = getenv("EXAMPLE_REPEAT");
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    if (strcmp(argv[1], kernels[i].name))
      continue;
    size_t np = elements(kernels[i].p, m, n), nq = elements(kernels[i].q, m, n), nr = elements(kernels[i].r, m, n);
    TYPE *p = example_array(np), *q = example_array(nq), *r = example_array(nr);
    for (int t = 0; t < (again ? atoi(again) : 1); t++) {
      example_seed(argc > 4 ? atol(argv[4]) : 1);
      example_fill(p, np);
      example_fill(q, nq);
      example_fill(r, nr);
      /* Diagonals of matrices, where the first array has some. */
      long row = kernels[i].p[2] ? n : 32;
      if (kernels[i].p[2] || kernels[i].p[0] == 1024)
        for (long b = 0; b < m; b++)
          for (long d = 0; d < row && (size_t)((b * row + d) * row + d) < np; d++)
            p[(b * row + d) * row + d] += (TYPE)(2 * row);
      kernels[i].run(m, n, p, q, r);
    }
    example_print("p", p, np);
    example_print("q", q, nq);
    return 0;
  }
  return 2;
}
