// Running totals, of which each part begins with those before it, and elements that are stored where a count says.
#include "planted.h"

#define N 3000

static void totals(int n, const double *restrict x, double *restrict out) {
  int s = 3;
  for (int i = 0; i < n; i++) {
    s += (int)x[i];
    out[i] = s;
  }
}

static void elements(int n, const double *restrict x, int *restrict y) {
  for (int i = 1; i < n; i++)
    y[i] = y[i - 1] + (int)x[i];
}

static int chosen(int n, const double *restrict x, double *restrict y) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > 3)
      y[k++] = x[i];
  return k;
}

int main(void) {
  double *x = matrix(N, 1), *out = matrix(N, 1);
  for (volatile int i = 0; i < N; i++)
    x[i] = i * 7 % 11;
  totals(N, x, out);
  show(out, N);
  int *y = calloc(N, sizeof *y);
  y[0] = 5;
  elements(N, x, y);
  for (volatile int i = 0; i < N; i++)
    out[i] = y[i];
  show(out, N);
  out[0] = chosen(N, x, out + 1);
  show(out, N);
}
