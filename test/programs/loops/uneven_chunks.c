// Chunks of a size that is an argument, of which the last one may be shorter: sums of each, and where the pointer, the count and the rest are behind them.
// ARGS: 100 7
// ARGS: 0 3
// ARGS: 100 10
// ARGS: 5 9
// ARGS: 9 9
// OFFLOAD: yes
// KERNELS: chunks
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static size_t chunks(const double *restrict p, size_t n, size_t m, double *restrict out, const double **end) {
  size_t rest = n, k = 0;
  while (rest != 0) {
    size_t len = m < rest ? m : rest;
    double sum = 0;
    for (size_t i = 0; i < len; i++)
      sum += p[i];
    out[k++] = sum;
    p += len;
    rest -= len;
  }
  *end = p + rest;
  return k;
}

int main(int argc, char **argv) {
  size_t n = atoi(argv[1]), m = atoi(argv[2]);
  double *x = malloc((n + 1) * sizeof *x), *out = calloc(n + 2, sizeof *out);
  for (size_t i = 0; i < n; i++)
    x[i] = (double)(i * 7919 % 1013) / 7;
  const double *end;
  size_t k = chunks(x, n, m, out, &end);
  double s = 0;
  for (size_t i = 0; i <= n; i++)
    s += out[i] * (i + 1);
  printf("%zu %td %a\n", k, end - x, s);
}
