// A loop that returns early where its data end, before what its bound would reach: behind that there may be no memory, which ends in the original loop.
// ARGS: 3000 1000
// ARGS: 1024 0
// ARGS: 1024 1024
// OFFLOAD: partial
// FALLBACK: memory that the loop may not access is not readable
#define _GNU_SOURCE
#include "example.h"
#include <sys/mman.h>

__attribute__((noinline)) static int until(int n, const double *v, double *out) {
  for (int i = 0; i < n; ++i) {
    if (v[i] < 0)
      return -1;
    out[i] = v[i] + 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  // Two pages of numbers, and none behind them.
  enum { PAGE = 4096, NUMBERS = 2 * PAGE / sizeof(double) };
  int n = (int)example_arg(argc, argv, 1, 3000), wrong = (int)example_arg(argc, argv, 2, 1000);
  char *pages = mmap(0, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return 2;
  munmap(pages + 2 * PAGE, 6 * PAGE);
  double *v = (double *)pages, *out = example_array(n);
  for (int i = 0; i < NUMBERS; ++i)
    v[i] = i % 13 + 0.5;
  for (int i = 0; i < n; ++i)
    out[i] = i % 7;
  if (wrong)
    v[wrong - 1] = -1;
  printf("%d\n", until(n, v, out));
  example_print("out", out, n);
  v[wrong ? wrong - 1 : 0] = 2;
  printf("%d\n", until(NUMBERS, v, out));
  example_print("again", out, n);
  free(out);
  return 0;
}
