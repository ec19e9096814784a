// Sums whose products the host fuses (-mfma), where threads share a place or a row: each product and its sum are one operation there, too, in the program's order. One list and three, differences,
// places under conditions, sparse rows, rows of elements.
// FLAGS: -ffp-contract=on -mfma
// ARGS: 900
// ARGS: 333
// ARGS: 0
// OFFLOAD: yes
// KERNELS: fused taken triangles chosen product rows
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void fused(int n, const int *place, const int *from, const TYPE *v, const TYPE *x, TYPE *f) {
  for (int i = 0; i < n; ++i)
    f[place[i]] += v[i] * x[from[i]];
}

KERNEL void taken(int n, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    f[place[i]] -= v[i] * v[n - 1 - i];
}

KERNEL void triangles(int n, const int (*corner)[3], const TYPE *u, TYPE *f) {
  for (int e = 0; e < n; ++e) {
    TYPE all = u[corner[e][0]] + u[corner[e][1]] * 2 + u[corner[e][2]];
    f[corner[e][0]] += all;
    f[corner[e][1]] += all * 3;
    f[corner[e][2]] -= all * u[e];
  }
}

KERNEL void chosen(int n, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    if (v[i] > (TYPE)0.3)
      f[place[i]] += v[i] * (TYPE)1.7;
}

KERNEL void product(int n, const int *start, const int *column, const TYPE *v, const TYPE *x, TYPE *y) {
  for (int i = 0; i < n; ++i) {
    TYPE sum = y[i];
    for (int k = start[i]; k < start[i + 1]; ++k)
      sum += v[k] * x[column[k]];
    y[i] = sum;
  }
}

KERNEL void rows(int n, const int *place, const TYPE *w, const TYPE (*v)[8], TYPE (*f)[8]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 8; ++j)
      f[place[i]][j] += w[i] * v[i][j];
}

static unsigned number(unsigned most) {
  static unsigned long long state = 7;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % most;
}

static int *list(size_t n, int most) {
  int *all = calloc(n + 1, sizeof *all);
  for (size_t i = 0; i < n; ++i)
    all[i] = (int)number((unsigned)most);
  return all;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333), places = n / 20 + 1;
  size_t m = 8 * (size_t)n + 64;
  TYPE *f = example_array(m), *v = example_array(24 * m), *x = example_array(m);
  int *place = list(n, places), *from = list(n, n), *corner = list(3 * (size_t)n, places), *column = list(24 * (size_t)n, n);
  int *start = calloc((size_t)n + 2, sizeof *start);
  for (int i = 0; i <= n; ++i)
    start[i] = i * 24;
  example_fill(f, m), example_fill(v, 24 * m), example_fill(x, m);
#define SHOW(what) example_print(what, f, m)
  fused(n, place, from, v, x, f), SHOW("fused");
  taken(n, place, v, f), SHOW("taken");
  triangles(n, (const int (*)[3])corner, x, f), SHOW("triangles");
  chosen(n, place, v, f), SHOW("chosen");
  product(n, start, column, v, x, f), SHOW("product");
  rows(n, place, x, (const TYPE (*)[8])v, (TYPE (*)[8])f), SHOW("rows");
  return 0;
}
