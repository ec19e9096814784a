// Launches that go in slices: what a slice needs is copied before it, what it leaves to nobody goes back behind it.
#include "planted.h"

#define N 4000

// A slice needs one element more than it has points.
static void needs(int n, double *restrict a, double *restrict b) {
  for (int i = 0; i < n - 1; i++)
    b[i] = a[i] * 0.5 + a[i + 1];
}

// The second launch changes what the first one wrote, from the other end.
static void changes(int n, double *restrict a, double *restrict b, double *restrict c) {
  for (int i = 0; i < n; i++)
    c[i] = a[i] + 0.25;
  for (int i = 0; i < n; i++)
    c[n - 1 - i] = c[n - 1 - i] * b[i];
}

int main(void) {
  double *a = matrix(N, 1), *b = matrix(N, 2), *c = matrix(N, 3);
  needs(N, a, b);
  changes(N, a, b, c);
  show(b, N);
  show(c, N);
  return 0;
}
