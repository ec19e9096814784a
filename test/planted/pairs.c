// Places of minima, of which the first or the last one counts.
#include "planted.h"

#define N 3000

static void places(int n, const double *restrict x, double *restrict out) {
  double least = 1e9, most = -1e9;
  int first = -1, last = -1;
  for (int i = 0; i < n; i++)
    if (x[i] < least) {
      least = x[i];
      first = i;
    }
  for (int i = 0; i < n; i++)
    if (x[i] > most) {
      most = x[i];
      last = i;
    }
  out[0] = least;
  out[1] = first;
  out[2] = most;
  out[3] = last;
}

int main(void) {
  double *x = matrix(N, 1), *out = matrix(4, 1);
  for (volatile int i = 0; i < N; i++)
    x[i] = i * 7 % 11;
  places(N, x, out);
  show(out, 4);
}
