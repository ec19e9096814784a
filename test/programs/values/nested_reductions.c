// Sums and maxima over all loops of a nest: each row is a part, and each 32nd element of it where the order does not matter.
// Zeros of both signs tell the orders of a maximum apart, and NaNs are passed over.
//
// ARGS: 0 3 4
// ARGS: 1 1 1
// ARGS: 5 7 3
// ARGS: 9 4 150
// ARGS: 3 70 33
// OFFLOAD: yes
// TURNS: 3
// KERNELS: total plane norm peak first count least statistics settle
#include "example.h"
#include <math.h>

#define KEEP __attribute__((noinline)) static

typedef long long wide;

KEEP wide total(int n, int m, int l, const int a[n][m][l]) {
  wide s = 7;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++)
        s += (wide)a[i][j][k] * (i + 1);
  return s;
}

KEEP unsigned plane(int n, int m, const int a[n][m]) {
  unsigned s = 0;
  for (int i = 0; i < n; i++)
    for (int j = i % 3; j < m; j += 2)
      s ^= (unsigned)a[i][j] * 2654435761u;
  return s;
}

// No absolute value is -0.0: in any order.
KEEP double norm(int n, int m, int l, const double a[n][m][l], const double b[n][m][l]) {
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++) {
        double d = fabs(a[i][j][k] - b[i][j][k]);
        if (d > s)
          s = d;
      }
  return s;
}

KEEP double peak(int n, int m, const double a[n][m]) {
  double s = -0.0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double d = a[i][j] * a[i][j];
      s = d >= s ? d : s;
    }
  return s;
}

// The first of the zeros stays.
KEEP double first(int n, int m, int l, const double a[n][m][l]) {
  double s = -1e300;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++) {
        double d = a[i][j][k] > 0 ? a[i][j][k] * 0.0 : a[i][j][k] < 0 ? -0.0 : a[i][j][k];
        if (d > s)
          s = d;
      }
  return s;
}

KEEP int count(int n, int m, int l, const double a[n][m][l]) {
  int s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++)
        s += a[i][j][k] > 0.25;
  return s;
}

// Four channels: a pixel is a part.
KEEP int least(int n, int m, const int a[n][m][4]) {
  int s = 1 << 30;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int c = 0; c < 4; c++)
        s = a[i][j][c] < s ? a[i][j][c] : s;
  return s;
}

// Several in one nest.
KEEP void statistics(int n, int m, const int a[n][m], wide out[4]) {
  wide s = 0, q = 0;
  int high = -5, low = 5;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      s += a[i][j];
      q += (wide)(a[i][j] % 1000) * (a[i][j] % 1000);
      high = a[i][j] > high ? a[i][j] : high;
      low = a[i][j] < low ? a[i][j] : low;
    }
  out[0] = s;
  out[1] = q;
  out[2] = high;
  out[3] = low;
}

// One in each iteration of a loop that needs its result.
KEEP int settle(int n, int steps, int *a, unsigned *b) {
  int seen = 0;
  for (int t = 0; t < steps; t++) {
    unsigned s = (unsigned)t;
    for (int i = 0; i < n; i++)
      s += (unsigned)a[i] * b[i];
    for (int i = 0; i < n; i++)
      b[i] = b[i] * 3u + s;
    seen ^= (int)s;
  }
  return seen;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 5, m = argc > 2 ? atoi(argv[2]) : 6, l = argc > 3 ? atoi(argv[3]) : 7;
  size_t all = (size_t)n * m * l + 4;
  int *a = malloc(4 * all * sizeof(int));
  double *b = example_array(all), *c = example_array(all);
  for (size_t i = 0; i < 4 * all; i++)
    a[i] = (int)(example_uniform() * 2e9);
  example_fill(b, all);
  example_fill(c, all);
  if (all > 10)
    b[all / 2] = NAN;
  printf("%lld\n", total(n, m, l, (void *)a));
  printf("%u\n", plane(n, m * l, (void *)a));
  printf("%a\n", norm(n, m, l, (void *)b, (void *)c));
  printf("%a\n", peak(n, m * l, (void *)b));
  printf("%a\n", first(n, m, l, (void *)c));
  printf("%d\n", count(n, m, l, (void *)b));
  printf("%d\n", least(n, m, (void *)a));
  wide out[4];
  statistics(n, m * l, (void *)a, out);
  printf("%lld %lld %lld %lld\n", out[0], out[1], out[2], out[3]);
  unsigned *u = (unsigned *)malloc(all * sizeof(unsigned));
  for (size_t i = 0; i < all; i++)
    u[i] = (unsigned)i * 77u + 1u;
  printf("%d\n", settle((int)all, l % 7, a, u));
  printf("%016llx\n", (unsigned long long)example_hash(u, all * sizeof(unsigned)));
  free(u);
  free(a);
  free(b);
  free(c);
  return 0;
}
