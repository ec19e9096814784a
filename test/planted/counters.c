// A histogram of few elements: blocks count in shared memory.
#include "planted.h"

#define N 9000

static void count(long n, int *restrict h, const unsigned char *restrict p) {
  for (long i = 0; i < n; i++)
    h[p[i]]++;
}

int main(void) {
  double *d = matrix(256, 1);
  unsigned char *p = malloc(N);
  int h[256] = {0};
  for (volatile int i = 0; i < N; i++)
    p[i] = (unsigned char)(i * 37 + (i >> 5));
  count(N, h, p);
  for (volatile int i = 0; i < 256; i++)
    d[i] = h[i];
  show(d, 256);
  return 0;
}
