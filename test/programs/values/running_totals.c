// Running totals (scans) in parts of 16, 64 and 32: inclusive and exclusive, backwards, with the total used behind, sums and products that wrap, minima, maxima
// and bit operations, several in a loop, with what they need ahead and what needs them behind, in memory, in place, along rows; NaNs and zeros of both signs.
// Sums of floating-point numbers that may not be regrouped stay, and so does what is added up of the total itself.
//
// ARGS: 257 3
// ARGS: 0 1
// ARGS: 1 2
// ARGS: 17 5
// ARGS: 1024 4
// ARGS: 16385 2
// OFFLOAD: yes
// TURNS: 2
// KERNELS: inclusive exclusive backward products bits extrema numbers two around memory in_place offsets regrouped rows
#include "example.h"
#include <math.h>

#define KEEP __attribute__((noinline)) static

KEEP void inclusive(int n, const int *restrict x, int *restrict y) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    s += x[i];
    y[i] = s;
  }
}

KEEP long exclusive(long n, const int *restrict x, long *restrict y, long s) {
  for (long i = 0; i < n; i++) {
    y[i] = s;
    s += x[i];
  }
  return s;
}

KEEP unsigned backward(int n, const unsigned *restrict x, unsigned *restrict y) {
  unsigned s = 7;
  for (int i = n - 1; i >= 0; i--) {
    s += x[i];
    y[i] = s * 3;
  }
  return s;
}

KEEP void products(int n, const unsigned *restrict x, unsigned *restrict y) {
  unsigned s = 1;
  for (int i = 0; i < n; i++) {
    s *= 2 * x[i] + 1;
    y[i] = s;
  }
}

KEEP void bits(int n, const unsigned *restrict x, unsigned *restrict a, unsigned *restrict o,
               unsigned *restrict e) {
  unsigned all = ~0u, some = 0, odd = 0;
  for (int i = 0; i < n; i++) {
    all &= x[i] | 0x55555555u << i % 32;
    some |= x[i] & x[i] >> 7 & x[i] << 9;
    odd ^= x[i];
    a[i] = all;
    o[i] = some;
    e[i] = odd;
  }
}

KEEP void extrema(int n, const int *restrict x, int *restrict low, unsigned *restrict high) {
  int least = 2147483647;
  unsigned most = 0;
  for (int i = 0; i < n; i++) {
    least = x[i] < least ? x[i] : least;
    low[i] = least;
    most = (unsigned)x[i] > most ? (unsigned)x[i] : most;
    high[i] = most;
  }
}

// A NaN is passed over; of two zeros the first one stays.
KEEP double numbers(int n, const double *restrict x, double *restrict y, double m) {
  for (int i = 0; i < n; i++) {
    if (x[i] < m)
      m = x[i];
    y[i] = m;
  }
  return m;
}

KEEP void two(int n, const int *restrict x, const int *restrict z, long *restrict y) {
  long s = 0, t = 0;
  for (int i = 0; i < n; i++) {
    s += x[i];
    t += (long)x[i] * z[i];
    y[i] = s * 5 - t;
  }
}

// What the total needs is stored ahead of it, and what is stored of it is read again.
KEEP unsigned around(int n, const unsigned *restrict x, unsigned *restrict w, unsigned *restrict y,
                     unsigned *restrict z) {
  unsigned s = 0;
  for (int i = 0; i < n; i++) {
    w[i] = x[i] * x[i];
    s += w[i] ^ w[i] / 3;
    y[i] = s;
    z[i] = y[i] ^ x[i];
  }
  return s;
}

KEEP void memory(int n, const int *restrict x, int *restrict s, int *restrict y) {
  for (int i = 0; i < n; i++) {
    *s += x[i];
    y[i] = *s;
  }
}

KEEP int in_place(int n, int *x) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    s += x[i];
    x[i] = s;
  }
  return s;
}

// Where each one begins, in the place of how many there are.
KEEP void offsets(int n, int *x) {
  int s = 11;
  for (int i = 0; i < n; i++) {
    int length = x[i];
    x[i] = s;
    s += length;
  }
}

// All sums are whole numbers, whatever their order.
KEEP void regrouped(int n, const float *restrict x, float *restrict y) {
#pragma clang fp reassociate(on)
  float s = 0;
  for (int i = 0; i < n; i++) {
    s += x[i];
    y[i] = s;
  }
}

KEEP void ordered(int n, const double *restrict x, double *restrict y) {
  double s = 0;
  for (int i = 0; i < n; i++) {
    s += x[i];
    y[i] = s;
  }
}

// What is added depends on the total itself: none of these is one.
KEEP unsigned hashed(int n, const unsigned *restrict x, unsigned *restrict y) {
  unsigned h = 1315423911;
  for (int i = 0; i < n; i++) {
    h ^= (h << 5) + x[i] + (h >> 2);
    y[i] = h;
  }
  return h;
}

KEEP unsigned doubled(int n, const unsigned *restrict x, unsigned *restrict y) {
  unsigned s = 1;
  for (int i = 0; i < n; i++) {
    s += x[i] * (s >> 3);
    y[i] = s;
  }
  return s;
}

KEEP void smoothed(int n, const float *restrict x, float *restrict y) {
#pragma clang fp reassociate(on)
  float s = 0;
  for (int i = 0; i < n; i++) {
    s += 0.25f * (x[i] - s);
    y[i] = s;
  }
}

KEEP void rows(int n, int m, const int x[n][m], int y[n][m]) {
  for (int i = 0; i < n; i++) {
    int s = i;
    for (int j = 0; j < m; j++) {
      s += x[i][j];
      y[i][j] = s;
    }
  }
}

static void show(const char *name, const void *data, size_t bytes) {
  printf("%s %016llx\n", name, (unsigned long long)example_hash(data, bytes));
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 257, m = argc > 2 ? atoi(argv[2]) : 3;
  size_t all = (size_t)n * m + 1, bytes = all * sizeof(long);
  int *x = malloc(bytes), *y = calloc(1, bytes), *z = calloc(1, bytes), *w = calloc(1, bytes);
  long *l = calloc(1, bytes);
  double *d = malloc(bytes), *e = calloc(1, bytes);
  float *f = malloc(bytes), *g = calloc(1, bytes);
  for (size_t i = 0; i < all; i++) {
    x[i] = (int)example_bits();
    int v = (int)(example_uniform() * 40);
    d[i] = v == 7 ? NAN : v == 5 ? -0.0 : v < 0 && i > 300 ? v - (double)i : v * 0.5;
    f[i] = (float)(v % 10);
  }
  inclusive(n, x, y);
  show("inclusive", y, bytes);
  long s = exclusive(n, x, l, -5);
  printf("exclusive %ld\n", s);
  show("exclusive", l, bytes);
  unsigned u = backward(n, (unsigned *)x, (unsigned *)y);
  printf("backward %u\n", u);
  show("backward", y, bytes);
  products(n, (unsigned *)x, (unsigned *)y);
  show("products", y, bytes);
  bits(n, (unsigned *)x, (unsigned *)y, (unsigned *)z, (unsigned *)w);
  show("and", y, bytes);
  show("or", z, bytes);
  show("xor", w, bytes);
  extrema(n, x, y, (unsigned *)z);
  show("least", y, bytes);
  show("most", z, bytes);
  for (int k = 0; k < 3; k++) {
    double start[3] = {INFINITY, NAN, 0.0}, end = numbers(n, d, e, start[k]);
    show("numbers", e, bytes);
    show("end", &end, sizeof end);
  }
  two(n, x, y, l);
  show("two", l, bytes);
  u = around(n, (unsigned *)x, (unsigned *)y, (unsigned *)z, (unsigned *)w);
  printf("around %u\n", u);
  show("squares", y, bytes);
  show("sums", z, bytes);
  show("mixed", w, bytes);
  int cell = 3;
  memory(n, x, &cell, y);
  printf("memory %d\n", cell);
  show("memory", y, bytes);
  s = in_place(n, y);
  printf("in_place %ld\n", s);
  show("in_place", y, bytes);
  offsets(n, y);
  show("offsets", y, bytes);
  regrouped(n, f, g);
  show("regrouped", g, bytes);
  u = hashed(n, (unsigned *)x, (unsigned *)y);
  printf("hashed %u\n", u);
  show("hashed", y, bytes);
  u = doubled(n, (unsigned *)x, (unsigned *)y);
  printf("doubled %u\n", u);
  show("doubled", y, bytes);
  smoothed(n, f, g);
  show("smoothed", g, bytes);
  for (size_t i = 0; i < all; i++)
    d[i] = example_uniform();
  ordered(n, d, e);
  show("ordered", e, bytes);
  rows(n, m, (const int(*)[m])x, (int(*)[m])y);
  show("rows", y, bytes);
  rows(m, n ? n : 1, (const int(*)[n ? n : 1])x, (int(*)[n ? n : 1])y);
  show("long rows", y, bytes);
  return 0;
}
