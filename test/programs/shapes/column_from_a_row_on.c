// Columns of matrices whose rows are one element shorter or two longer than an argument, from a row on that is an argument, as the borders of
// staggered grids are: by themselves, beside a vector, of two matrices in a structure, two columns, and a part of a row.
// ARGS: 5 40 17 60
// ARGS: 0 0 0 2
// ARGS: 0 1 0 3
// ARGS: 3 2 1 9
// ARGS: 0 59 30 31
// OFFLOAD: yes
// KERNELS: shorter longer beside members two_columns part
#include <stdio.h>
#include <stdlib.h>

#define OUT_OF_LINE __attribute__((noinline))
#define ROOM 8192

struct grid {
  double *h, *c;
  int rows, columns;
};

static int first, last, column;
static double h[ROOM], c[ROOM], e[ROOM];

OUT_OF_LINE static void shorter(int from, int to, int y, int w, double *restrict a) {
  for (int m = from; m <= to; m++)
    a[m * (w - 1) + y] -= 0.5;
}

OUT_OF_LINE static void longer(int from, int to, int y, int w, double *restrict a) {
  for (int m = from; m <= to; m++)
    a[m * (w + 2) + y] *= 0.75;
}

OUT_OF_LINE static void beside(int from, int to, int y, int w, double *restrict a, const double *restrict b, const double *restrict v) {
  for (int m = from; m <= to; m++)
    a[m * (w - 1) + y] += b[m * (w - 1) + y] * v[m];
}

OUT_OF_LINE static void members(struct grid *g, const double *v) {
  for (int m = first; m <= last; m++)
    g->h[m * (g->columns - 1) + column] -= g->c[m * (g->columns - 1) + column] * v[m];
}

OUT_OF_LINE static void two_columns(int from, int to, int w, double *restrict a) {
  for (int m = from; m <= to; m++) {
    a[m * (w + 2) + w] += 1;
    a[m * (w + 2) + w + 1] = a[m * (w + 2)] * 0.5;
  }
}

OUT_OF_LINE static void part(int from, int to, int y, int most, int w, double *restrict a) {
  for (int m = from; m <= to; m++)
    for (int n = y; n < most; n++)
      a[m * (w - 1) + n] += m - n;
}

int main(int argc, char **argv) {
  if (argc != 5)
    return 2;
  int from = atoi(argv[1]), to = atoi(argv[2]), y = atoi(argv[3]), w = atoi(argv[4]);
  for (int i = 0; i < ROOM; i++)
    h[i] = (i * 37 + 11) % 101 / 7.0, c[i] = (i * 53 + 5) % 97 / 9.0, e[i] = (i * 29 + 3) % 89 / 5.0;
  struct grid g = {h, c, 60, w};
  first = from, last = to, column = y;
  for (int i = 0; i < 3; i++) {
    shorter(from, to, y, w, h);
    longer(from, to, y, w, h);
    beside(from, to, y, w, h, c, e);
    members(&g, e);
    two_columns(from, to, w, h);
    part(from, to, y / 2, y, w, c);
  }
  double sum = 0;
  for (int i = 0; i < ROOM; i++)
    sum = sum * 0.99 + h[i] + c[i];
  printf("%.17g\n", sum);
  return 0;
}
