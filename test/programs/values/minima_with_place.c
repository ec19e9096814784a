// Minima and maxima with their places, in runs of 256 and 64: ties, where the first or the last one counts, NaNs, zeros of both signs, infinities that nothing is
// below, a start that is a NaN, several places, the place in a nest, one for each row; and a condition under which pairs can't be regrouped.
//
// ARGS: 257 3
// ARGS: 0 1
// ARGS: 1 2
// ARGS: 255 5
// ARGS: 256 4
// ARGS: 4100 7
// ARGS: 16385 2
// OFFLOAD: yes
// TURNS: 3
// KERNELS: first largest integers unsigned_last both element square memory stable rows
#include "example.h"
#include <math.h>

#define KEEP __attribute__((noinline)) static

typedef struct {
  double value;
  long a, b;
} pair;

KEEP pair first(long n, const float *x, float m) {
  long k = -1;
  for (long i = 0; i < n; i++)
    if (x[i] < m) {
      m = x[i];
      k = i;
    }
  return (pair){m, k, 0};
}

// A NaN is reported, and the original runs.
KEEP pair last(int n, const double *x, double m) {
  int k = -1;
  for (int i = 0; i < n; i++)
    if (x[i] <= m) {
      m = x[i];
      k = i;
    }
  return (pair){m, k, 0};
}

KEEP pair largest(int n, const double *x) {
  double m = -1;
  int k = 7;
  for (int i = n - 1; i >= 0; i--)
    if (fabs(x[i]) > m) {
      m = fabs(x[i]);
      k = i;
    }
  return (pair){m, k, 0};
}

KEEP pair integers(long n, const int *x) {
  int m = 2147483647;
  long k = -1;
  for (long i = 0; i < n; i++)
    if (x[i] <= m) {
      m = x[i];
      k = i;
    }
  return (pair){m, k, 0};
}

KEEP pair unsigned_last(int n, const unsigned *x) {
  unsigned m = 0;
  int k = -1;
  for (int i = 0; i < n; i++)
    if (!(x[i] < m)) {
      m = x[i];
      k = i;
    }
  return (pair){m, k, 0};
}

KEEP void both(int n, const int *x, int *out) {
  int low = 5, high = -5, at_low = -1, at_high = -1;
  for (int i = 0; i < n; i++) {
    if (x[i] < low) {
      low = x[i];
      at_low = i;
    }
    if (x[i] >= high) {
      high = x[i];
      at_high = i;
    }
  }
  out[0] = low;
  out[1] = high;
  out[2] = at_low;
  out[3] = at_high;
}

// What else there is in the place.
KEEP pair kept(int n, const float *x, const long *y) {
  float m = 1e30f;
  long a = -1;
  int b = -2;
  for (int i = 0; i < n; i++) {
    long there = y[i];
    if (x[i] < m) {
      m = x[i];
      a = there;
      b = n - i;
    }
  }
  return (pair){m, a, b};
}

KEEP pair element(int n, const double *x) {
  int b = 0;
  for (int i = 1; i < n; i++)
    if (x[i] > x[b])
      b = i;
  return (pair){0, b, 0};
}

KEEP pair square(int n, int m, const double x[n][m]) {
  double s = 0.25;
  int a = -1, b = -1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double v = x[i][j] * x[i][j];
      if (v > s) {
        s = v;
        a = i;
        b = j;
      }
    }
  return (pair){s, a, b};
}

KEEP void memory(int n, const float *restrict x, float *restrict m, int *restrict k) {
  for (int i = 0; i < n; i++)
    if (x[i] < *m) {
      *m = x[i];
      *k = i;
    }
}

typedef struct {
  int ny, nx;
  const float *a;
} grid;

// Bounds that a store of the place might change.
KEEP float stable(const grid *g, int *where) {
  float least = 1e30f;
  for (int j = 0; j < g->ny; j++)
    for (int i = 0; i < g->nx; i++) {
      int c = j * g->nx + i;
      float t = 1 / (g->a[c] + 1);
      if (t < least) {
        least = t;
        *where = c;
      }
    }
  return least;
}

KEEP void unplaced(int n, const float *restrict x, const float *restrict m, int *restrict k) {
  float t = *m;
  for (int i = 0; i < n; i++)
    if (x[i] < t) {
      t = x[i];
      *k = i;
    }
}

KEEP void rows(int n, int m, const float x[n][m], float *restrict least, int *restrict at) {
  for (int i = 0; i < n; i++) {
    float t = x[i][0];
    int k = 0;
    for (int j = 1; j < m; j++)
      if (x[i][j] < t) {
        t = x[i][j];
        k = j;
      }
    least[i] = t;
    at[i] = k;
  }
}

KEEP pair from_nan(int n, const double *x, double m) {
  int k = -1;
  for (int i = 0; i < n; i++)
    if (x[i] > m || (m != m && x[i] == x[i])) {
      m = x[i];
      k = i;
    }
  return (pair){m, k, 0};
}

// With a NaN in `m` this takes anything.
KEEP pair not_less(int n, const double *x, double m) {
  int k = -1;
  for (int i = 0; i < n; i++)
    if (!(x[i] <= m)) {
      m = x[i];
      k = i;
    }
  return (pair){m, k, 0};
}

static void show(const char *name, pair p) { printf("%s %a %ld %ld\n", name, p.value, p.a, p.b); }

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 257, m = argc > 2 ? atoi(argv[2]) : 3;
  size_t all = (size_t)n * m + 4;
  // Few values, most of them several times.
  double *x = example_array(all), *numbers = example_array(all);
  float *f = malloc(all * sizeof(float)), *least = malloc((size_t)(n + 1) * sizeof(float));
  int *k = malloc(all * sizeof(int)), *at = malloc((size_t)(n + 1) * sizeof(int));
  long *y = malloc(all * sizeof(long));
  for (size_t i = 0; i < all; i++) {
    int v = (int)(example_uniform() * 40) - 20;
    numbers[i] = v == 3 ? -0.0 : v < 0 ? (double)v : v * 0.5;
    x[i] = v == 7 ? NAN : v == 9 ? INFINITY : v == -20 ? -INFINITY : numbers[i];
    f[i] = (float)(v > 10 ? NAN : v == 0 ? -0.0 : v == 1 ? 0.0 : fabs(x[i]));
    k[i] = v * 3;
    y[i] = (long)(example_uniform() * 1e9) * 8 + v;
  }
  show("first", first(n, f, INFINITY));
  show("first", first(n, f, NAN));
  show("first", first(n, f, -1));
  show("last", last(n, numbers, 1e9));
  show("last", last(n, x, INFINITY));
  show("last", last(n, numbers, NAN));
  show("largest", largest(n, x));
  show("integers", integers(n, k));
  show("unsigned_last", unsigned_last(n, (const unsigned *)k));
  int out[4];
  both(n, k, out);
  printf("both %d %d %d %d\n", out[0], out[1], out[2], out[3]);
  show("kept", kept(n, f, y));
  show("element", element(n, numbers));
  show("element", element(n, x));
  show("square", square(n, m, (void *)x));
  show("square", square(m, n, (void *)numbers));
  float low = 0.75f;
  int place = -3;
  memory(n, f, &low, &place);
  printf("memory %a %d\n", low, place);
  grid g = {n, m, f};
  low = stable(&g, &place);
  printf("stable %a %d\n", low, place);
  // Nothing is stored, and there is no place.
  low = -1e30f;
  unplaced(n, f, &low, NULL);
  printf("unplaced %a\n", low);
  rows(n, m, (void *)f, least, at);
  for (int i = 0; i < n; i += n / 9 + 1)
    printf("rows %a %d\n", least[i], at[i]);
  rows(m, n ? n : 1, (void *)f, least, at);
  for (int i = 0; i < m && i < n; i++)
    printf("rows %a %d\n", least[i], at[i]);
  show("from_nan", from_nan(n, x, NAN));
  show("from_nan", from_nan(n, x, 2));
  show("not_less", not_less(n, numbers, -5));
  show("not_less", not_less(n, x, NAN));
  return 0;
}
