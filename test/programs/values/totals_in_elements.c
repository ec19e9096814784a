// Running totals whose cell is an element that the iteration before stored: y[i] = y[i-1] + x[i], in place, exclusive, backwards, in memory beside arrays that might
// be the same, along rows that share a cell, products, minima and bit operations, in parts of 16, 64 and 32. Sums that may not be regrouped stay, and so does what
// another statement of the loop stores to.
//
// ARGS: 257 3
// ARGS: 0 1
// ARGS: 1 2
// ARGS: 2 2
// ARGS: 17 5
// ARGS: 16386 2
// OFFLOAD: yes
// TURNS: 2
// KERNELS: inclusive in_place exclusive backward memory least products odd rows regrouped
#include "example.h"

#define KEEP __attribute__((noinline)) static

KEEP void inclusive(int n, const int *restrict x, int *restrict y) {
  for (int i = 1; i < n; i++)
    y[i] = y[i - 1] + x[i];
}

KEEP void in_place(int n, int *x) {
  for (int i = 1; i < n; i++)
    x[i] += x[i - 1];
}

KEEP void exclusive(int n, const int *restrict x, int *restrict y) {
  y[0] = 5;
  for (int i = 0; i < n; i++)
    y[i + 1] = y[i] + x[i];
}

KEEP void backward(int n, const unsigned *x, unsigned *y) {
  for (int i = n - 2; i >= 0; i--)
    y[i] = (x[i] ^ 3) + y[i + 1];
}

KEEP void memory(int n, const int *x, int *s, int *y) {
  for (int i = 0; i < n; i++) {
    *s += x[i];
    y[i] = *s;
  }
}

// The cell may be one of the array's, with which the original loop runs.
KEEP void beside(int n, const int *x, int *s, int *y) {
  for (int i = 0; i < n; i++) {
    *s += x[i];
    y[i] = *s;
  }
}

KEEP void least(int n, const int *restrict x, int *restrict y) {
  for (int i = 1; i < n; i++)
    y[i] = x[i] < y[i - 1] ? x[i] : y[i - 1];
}

KEEP void products(int n, const unsigned *restrict x, unsigned *restrict y) {
  for (int i = 1; i < n; i++)
    y[i] = y[i - 1] * (x[i] | 1);
}

KEEP void odd(int n, const unsigned *restrict x, unsigned *restrict y) {
  for (int i = 1; i < n; i++)
    y[i] = y[i - 1] ^ x[i];
}

KEEP void rows(int n, int m, int y[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++)
      y[i][j] += y[i][j - 1];
}

// One cell for all rows.
KEEP void whole(int n, int m, const int x[n][m], int *restrict s, int y[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      *s += x[i][j];
      y[i][j] = *s;
    }
}

// All sums are whole numbers, whatever their order.
KEEP void regrouped(int n, const float *restrict x, float *restrict y) {
#pragma clang fp reassociate(on)
  for (int i = 1; i < n; i++)
    y[i] = y[i - 1] + x[i];
}

KEEP void ordered(int n, const double *restrict x, double *restrict y) {
  for (int i = 1; i < n; i++)
    y[i] = y[i - 1] + x[i];
}

// What an iteration takes over is not what the one before stored last.
KEEP void overwritten(int n, const int *restrict x, int *restrict y) {
  for (int i = 1; i < n; i++) {
    y[i] = y[i - 1] + x[i];
    y[i - 1] = x[i] * 3;
    if (i % 5 == 2)
      y[i] = x[i];
  }
}

static void show(const char *name, const void *data, size_t bytes) {
  printf("%s %016llx\n", name, (unsigned long long)example_hash(data, bytes));
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 257, m = argc > 2 ? atoi(argv[2]) : 3;
  size_t all = (size_t)n * m + 2, bytes = all * sizeof(double);
  int *x = malloc(bytes), *y = malloc(bytes);
  float *f = malloc(bytes), *g = malloc(bytes);
  double *d = malloc(bytes), *e = malloc(bytes);
  for (size_t i = 0; i < all; i++) {
    x[i] = (int)example_bits();
    y[i] = (int)example_bits();
    f[i] = (float)(x[i] & 15);
    g[i] = (float)(y[i] & 15);
    d[i] = example_uniform();
    e[i] = example_uniform();
  }
  size_t part = all * sizeof(int);
  inclusive(n, x, y);
  show("inclusive", y, part);
  in_place(n, y);
  show("in_place", y, part);
  exclusive(n, x, y);
  show("exclusive", y, part);
  backward(n, (unsigned *)x, (unsigned *)y);
  show("backward", y, part);
  int s = 7;
  memory(n, x, &s, y);
  printf("memory %d\n", s);
  show("memory", y, part);
  if (n > 2) {
    beside(n, y, y + n / 2, x);
    show("one of them", x, part);
  }
  y[0] = 2147483647;
  least(n, x, y);
  show("least", y, part);
  y[0] = 3;
  products(n, (unsigned *)x, (unsigned *)y);
  show("products", y, part);
  odd(n, (unsigned *)x, (unsigned *)y);
  show("odd", y, part);
  if (n) {
    rows(n, m, (int(*)[m])y);
    show("rows", y, part);
    rows(m, n, (int(*)[n])y);
    show("long rows", y, part);
    whole(m, n, (const int(*)[n])x, &s, (int(*)[n])y);
    printf("whole %d\n", s);
    show("whole", y, part);
  }
  regrouped(n, f, g);
  show("regrouped", g, all * sizeof(float));
  ordered(n, d, e);
  show("ordered", e, bytes);
  overwritten(n, x, y);
  show("overwritten", y, part);
  return 0;
}
