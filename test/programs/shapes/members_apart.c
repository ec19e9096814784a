// Arrays of a fixed size as members of one structure, with bounds that are arguments: they do not overlap as long as no bound is larger than a member, which is checked;
// where one is, elements of the next member are read after they were written, by the original loop.
// ARGS: 1000 38 40
// ARGS: 999 5 40
// ARGS: 1001 39 40
// ARGS: 1500 40 39
// ARGS: 0 0 0
// OFFLOAD: partial
// FALLBACK: parts of
// KERNELS: doubled pointed rows
#include "example.h"

static struct {
  double x[1000], y[1000], z[1000];
} lines;

static struct {
  double a[38][40], b[38][40], c[4][40];
} grids;

struct line {
  float x[1000], y[1000], z[1000];
};

__attribute__((noinline)) static void doubled(int n) {
  double *x = lines.x, *y = lines.y;
  for (int i = 0; i < n; ++i)
    y[i] = 2 * x[i] + 1;
}

__attribute__((noinline)) static void pointed(struct line *l, int n) {
  float *x = l->x, *y = l->y;
  for (int i = 0; i < n; ++i)
    y[i] = 2 * x[i] + y[i];
}

__attribute__((noinline)) static void rows(int n, int m) {
  double(*a)[40] = grids.a, (*b)[40] = grids.b;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      b[i][j] = 2 * a[i][j] + 1;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1000), r = (int)example_arg(argc, argv, 2, 38), m = (int)example_arg(argc, argv, 3, 40);
  struct line *l = malloc(sizeof *l);
  double sums[5] = {0};
  for (int i = 0; i < 1000; ++i) {
    lines.x[i] = i * 0.5;
    l->x[i] = (float)(i % 7);
    l->y[i] = l->z[i] = 1;
  }
  for (int i = 0; i < 38 * 40; ++i)
    (&grids.a[0][0])[i] = i % 11;
  doubled(n);
  pointed(l, n);
  rows(r, m);
  for (int i = 0; i < 1000; ++i) {
    sums[0] = sums[0] * 0.9 + lines.y[i];
    sums[1] = sums[1] * 0.9 + lines.z[i];
    sums[2] = sums[2] * 0.9 + l->y[i] + l->z[i];
  }
  for (int i = 0; i < 38 * 40; ++i)
    sums[3] = sums[3] * 0.9 + (&grids.b[0][0])[i];
  for (int i = 0; i < 4 * 40; ++i)
    sums[4] = sums[4] * 0.9 + (&grids.c[0][0])[i];
  example_print("sums", sums, 5);
}
