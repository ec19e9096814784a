// Loops that step by an argument: by one, past the end at once, and by none, where the loop is not entered.
// ARGS: 40 9 4
// ARGS: 40 9 1
// ARGS: 0 9 0
// ARGS: 7 3 100
// ARGS: 33 17 2147483647
// OFFLOAD: partial
// KERNELS: rows sums counted
#include "example.h"

__attribute__((noinline)) static void rows(int n, int m, int step, double *a) {
  for (int i = 0; i < n; i += step)
    for (int j = 0; j < m; j++)
      a[(size_t)i * m + j] = a[(size_t)i * m + j] * 0.5 + i - j;
}

__attribute__((noinline)) static void sums(long n, long m, long step, const double *a, double *s) {
  for (long j = 0; j < m; j++)
    for (long i = 0; i < n; i += step)
      s[j] += a[i * m + j];
}

__attribute__((noinline)) static void counted(unsigned n, unsigned m, unsigned step, double *a) {
  for (unsigned i = 0; i < n; i += step)
    for (unsigned j = 0; j < m; j++)
      a[(size_t)i * m + j] += 0.25 * j;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 40), m = (int)example_arg(argc, argv, 2, 9), step = (int)example_arg(argc, argv, 3, 4);
  size_t count = (size_t)n * m;
  double *a = example_array(count), *s = example_array(m);
  example_fill(a, count);
  example_fill(s, m);
  // (A step of 2^31 - 1 would overflow as a signed number of 32 bits.)
  if (step < 1000)
    rows(n, m, step, a);
  example_print("a", a, count);
  sums(n, m, step, a, s);
  example_print("s", s, m);
  counted((unsigned)n, (unsigned)m, (unsigned)step, a);
  example_print("a", a, count);
  free(a);
  free(s);
  return 0;
}
