// Floating-point numbers added up in elements that data chooses, where the program lets sums be regrouped: whole numbers, whose sums are exact in any order; floats and doubles,
// differences, products that are fused, under conditions, and of the corners of cells.
// ARGS: 333
// ARGS: 0
// ARGS: 1
// OFFLOAD: yes
// KERNELS: added single_added taken products filtered corners
#include "example.h"

#define KERNEL __attribute__((noinline)) static

#pragma clang fp reassociate(on) contract(fast)

KERNEL void added(int n, double *restrict f, const int *restrict p, const double *restrict v) {
  for (int i = 0; i < n; ++i)
    f[p[i]] += v[i];
}

KERNEL void single_added(int n, float *restrict f, const int *restrict p, const float *restrict v) {
  for (int i = 0; i < n; ++i)
    f[p[i]] += v[i];
}

KERNEL void taken(int n, float *restrict f, const int *restrict p, const float *restrict v) {
  for (int i = 0; i < n; ++i)
    f[p[i]] -= v[i];
}

KERNEL void products(int n, double *restrict f, const int *restrict p, const double *restrict v) {
  for (int i = 0; i < n; ++i)
    f[p[i]] += v[i] * v[i + 1];
}

KERNEL void filtered(int n, double *restrict f, const int *restrict p, const double *restrict v) {
  for (int i = 0; i < n; ++i)
    if (v[i] > 0)
      f[p[i]] += v[i];
}

KERNEL void corners(int n, int side, double *restrict grid, const int *restrict x, const int *restrict y, const double *restrict q) {
  for (int i = 0; i < n; ++i) {
    grid[y[i] * side + x[i]] += q[i];
    grid[y[i] * side + x[i] + 1] += q[i] * 2;
    grid[(y[i] + 1) * side + x[i]] += q[i] * 3;
    grid[(y[i] + 1) * side + x[i] + 1] += q[i] * 4;
  }
}

#pragma clang fp reassociate(off) contract(on)

static void print(const char *name, const void *data, size_t bytes) {
  printf("%s %016llx\n", name, (unsigned long long)example_hash(data, bytes));
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333), side = 19;
  size_t m = (size_t)n + 400;
  double *f = calloc(2 * m, sizeof *f), *v = f + m;
  float *g = calloc(2 * m, sizeof *g), *w = g + m;
  int *p = calloc(2 * m, sizeof *p), *y = p + m;
  for (size_t i = 0; i < m; ++i) {
    v[i] = (double)(example_bits() % 1000) - 400;
    w[i] = (float)v[i];
    p[i] = (int)(example_bits() % 17);
    y[i] = (int)(example_bits() % 17);
  }
  added(n, f, p, v);
  print("added", f, 8 * m);
  single_added(n, g, p, w);
  print("single added", g, 4 * m);
  taken(n, g, y, w);
  print("taken", g, 4 * m);
  products(n, f, p, v);
  print("products", f, 8 * m);
  filtered(n, f, y, v);
  print("filtered", f, 8 * m);
  corners(n, side, f, p, y, v);
  print("corners", f, 8 * m);
  free(f), free(g), free(p);
  return 0;
}
