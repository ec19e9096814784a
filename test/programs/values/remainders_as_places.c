// What a counter, a search or an argument leaves, taken modulo a size: as a place of an array that the loop writes, as the start of a row and as a bound.
// ARGS: 33 7 100
// ARGS: 1 1 5
// ARGS: 2 3 -1
// ARGS: 16 4 16
// ARGS: 257 2 1000000007
// ARGS: 0 0 3
// OFFLOAD: yes
// KERNELS: behind_a_counter behind_a_search row_of
#include <stdio.h>
#include <stdlib.h>

#define OUT_OF_LINE __attribute__((noinline)) static

OUT_OF_LINE int behind_a_counter(int n, double *u, const double *v) {
  int k;
  if (n <= 0)
    return -1;
  for (k = 1; k < n; k += 3)
    u[k] = v[k] + k;
  int place = (int)((unsigned)k % (unsigned)n);
  for (int i = 0; i < n; i++)
    u[i] = v[i] + u[place];
  return k;
}

OUT_OF_LINE int behind_a_search(int n, const double *u, double *v, double *w) {
  int k = 0;
  double least = 1e300;
  if (n <= 0)
    return -1;
  for (int i = 0; i < n; i++)
    if (u[i] <= least) {
      least = u[i];
      k = i;
    }
  int from = (int)((unsigned)k % (unsigned)n), clamped = k >= n ? n - 1 : k;
  for (int i = 0; i + from < n; i++)
    w[i] = u[i + from];
  for (int i = clamped; i < n; i++)
    v[i] = u[i];
  return k;
}

OUT_OF_LINE void row_of(unsigned n, unsigned m, unsigned t, double *a, const double *b) {
  if (n == 0)
    return;
  unsigned row = t % n;
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j < m; j++)
      a[(size_t)i * m + j] = b[(size_t)row * m + j] + i;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 33, m = argc > 2 ? atoi(argv[2]) : 7, t = argc > 3 ? atoi(argv[3]) : 100;
  int all = n * m + n + 1;
  double *u = malloc(all * sizeof *u), *v = malloc(all * sizeof *v), *w = malloc(all * sizeof *w);
  for (int i = 0; i < all; i++) {
    u[i] = (i * 37 + 11) % 101;
    v[i] = i % 5 - 1.5;
    w[i] = i % 11 * 0.25;
  }
  long z = behind_a_search(n, u, v, w);
  z = z * 31 + behind_a_counter(n, u, v);
  row_of((unsigned)n, (unsigned)m, (unsigned)t, w, u);
  row_of((unsigned)n, (unsigned)m, (unsigned)t, u, v);
  double sum = 0;
  for (int i = 0; i < all; i++)
    sum = sum * 0.75 + u[i] - v[i] * 0.5 + w[i];
  printf("%ld %.17g\n", z, sum);
  free(u);
  free(v);
  free(w);
  return 0;
}
