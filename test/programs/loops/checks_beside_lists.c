// Checks on data that end the program, beside elements that lists name: the lists are looked at before, so that no address depends on
// the check; where it fails, the original loop runs and the program ends; a list that is checked itself stays
// ARGS: 400 0 0
// ARGS: 0 0 0
// ARGS: 1 0 0
// ARGS: 65 0 0
// ARGS: 300 170 0
// ARGS: 300 170 1
// ARGS: 300 0 2
// OFFLOAD: partial
// KERNELS: volumes
// REASON: a check in the loop failed
#include "example.h"

// Elements with four nodes each.
__attribute__((noinline)) static void volumes(int n, const int *nodes, const double *x, const double *v, double *out, double *all) {
  for (int i = 0; i < n; i++) {
    double at[4];
    for (int k = 0; k < 4; k++)
      at[k] = x[nodes[4 * i + k]];
    for (int k = 0; k < 4; k++)
      all[4 * i + k] = at[k] * at[3 - k] + v[i];
    out[i] = v[i] * (at[0] + at[3]);
    if (v[i] <= 0.0)
      exit(7);
  }
}

__attribute__((noinline)) static void checked(int n, int m, const int *list, const double *x, double *out) {
  for (int i = 0; i < n; i++) {
    if (list[i] < 0 || list[i] >= m)
      exit(8);
    out[i] = 2 * x[list[i]];
  }
}

static int count;
static double *results, *more;

static double sum(int n, const double *p) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s = s * 0.999 + p[i];
  return s;
}

// What the program has done until it ends.
static void end(void) {
  printf("ended: %.17g %.17g\n", sum(count, results), sum(4 * count, more));
  fflush(stdout);
  _Exit(0);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 400), bad = (int)example_arg(argc, argv, 2, 0), wild = (int)example_arg(argc, argv, 3, 0);
  int m = n + 7;
  int *nodes = malloc(sizeof(int) * (4 * n + 1));
  double *x = malloc(sizeof(double) * m), *v = malloc(sizeof(double) * (n + 1)), *out = malloc(sizeof(double) * (n + 1)), *all = malloc(sizeof(double) * (4 * n + 1));
  count = n, results = out, more = all;
  memset(out, 0, sizeof(double) * (n + 1)), memset(all, 0, sizeof(double) * (4 * n + 1));
  atexit(end);
  for (int i = 0; i < m; i++)
    x[i] = example_uniform();
  for (int i = 0; i < n; i++)
    v[i] = 1.5 + example_uniform();
  for (int i = 0; i < 4 * n; i++)
    nodes[i] = (int)(example_bits() % m);
  checked(n, m, nodes, x, out);
  volumes(n, nodes, x, v, out, all);
  printf("%.17g %.17g\n", sum(n, out), sum(4 * n, all));
  fflush(stdout);
  // Behind the element that ends the program the list has anything.
  if (bad)
    v[bad] = -1;
  if (wild == 1)
    for (int i = 4 * bad + 4; i < 4 * n; i++)
      nodes[i] = 1 << 30;
  if (wild == 2)
    nodes[n / 2] = -5;
  if (wild == 2)
    checked(n, m, nodes, x, out);
  volumes(n, nodes, x, v, out, all);
  printf("%.17g %.17g\n", sum(n, out), sum(4 * n, all));
  return 0;
}
