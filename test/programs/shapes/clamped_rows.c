// Rows whose length is clamped to a constant are as long as that or as the argument.
// ARGS: 0 0
// ARGS: 3 1
// ARGS: 33 39
// ARGS: 33 40
// ARGS: 200 41
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void rows(int n, int m, const int *x, int *out) {
  if (m > 40)
    m = 40;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      out[i * m + j] = x[i * m + j] + 1;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 70), m = (int)example_arg(argc, argv, 2, 30);
  size_t all = (size_t)n * m + 1;
  int *x = malloc(all * sizeof *x), *out = calloc(all, sizeof *out);
  for (size_t k = 0; k < all; k++)
    x[k] = (int)(example_uniform() * 1000);
  rows(n, m, x, out);
  printf("%016llx\n", (unsigned long long)example_hash(out, all * sizeof *out));
  return 0;
}
