// The inner columns of a grid copied outwards, rows of an extent and one, and steps that an argument gives: views that hold for ordinary sizes.
// ARGS: 40 60
// ARGS: 9 7
// OFFLOAD: yes
// KERNELS: right left rows from_first from_loaded from_zero backwards
#include "example.h"

#define N __attribute__((noinline)) static void

N right(int x, int y, int h, int depth, double *b) {
  for (int j = h; j < y - h; j++)
    for (int k = 0; k < depth; k++) {
      int base = j * x + (x - h);
      b[base + k] = b[base - 1 - k];
    }
}

N left(int x, int y, int h, int depth, double *b) {
  for (int j = h; j < y - h; j++)
    for (int k = 0; k < depth; k++) {
      int base = j * x;
      b[base + h - 1 - k] = b[base + h + k];
    }
}

// As Fortran indexes p(xmin:xmax+2, m).
N rows(const int *xmin, const int *xmax, int m, double *restrict p) {
  long low = *xmin, e = (long)(*xmax + 2) - low, length = (e < -1 ? -1 : e) + 1;
  for (long k = 0; k < m; k++)
    for (long j = low; j <= *xmax; j++)
      p[j - low + k * length] *= 0.4;
}

typedef struct {
  int first, step;
} range;

static float x[4000], y[4000];

N from_loaded(const range *p) {
  int first = p->first, step = p->step;
  for (int i = first - 1; i < 4000; i += step)
    x[i] += y[i];
}

N from_first(int first, int step) {
  for (int i = first - 1; i < 4000; i += step)
    x[i] += y[i];
}

N from_zero(int step) {
  for (int i = 0; i < 4000; i += step)
    x[i] += y[i];
}

N backwards(int first, int step) {
  int w = 0;
  for (int i = first - 1; i < 4000; i += step) {
    w++;
    x[i] += y[4000 - w];
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 40), m = (int)example_arg(argc, argv, 2, 60);
  double *b = malloc((size_t)(n + 3) * m * sizeof *b);
  for (int i = 0; i < (n + 3) * m; i++)
    b[i] = i % 37;
  right(n, m, 2, 1, b);
  right(n, m, 2, 2, b);
  left(n, m, 2, 1, b);
  left(n, m, 2, 2, b);
  int low = 1, high = n;
  rows(&low, &high, m, b);
  for (int i = 0; i < 4000; i++) {
    x[i] = i;
    y[i] = 2 * i;
  }
  range r = {1, 1};
  from_loaded(&r);
  r.step = 3;
  from_loaded(&r);
  from_first(1, 1);
  from_first(5, 2);
  from_first(3, 4000);
  from_zero(1);
  from_zero(5);
  backwards(1, 1);
  backwards(2, 2);
  double s = 0;
  for (int i = 0; i < (n + 3) * m; i++)
    s = s * 0.5 + b[i];
  for (int i = 0; i < 4000; i++)
    s = s * 0.75 + x[i];
  printf("%a\n", s);
  free(b);
  return 0;
}
