// Rows of negative distance: images whose last row comes first. As a signed number, and as one of 64 bits without a sign, which wraps around.
// ARGS: 33 17
// ARGS: 2 1
// ARGS: 5 6
// OFFLOAD: fallback
// FALLBACK: stay inside its dimensions
#include "example.h"

__attribute__((noinline)) static void upwards(int n, int m, int distance, double *image) {
  for (int i = 1; i < n; ++i)
    for (int j = 0; j < m; ++j)
      image[i * distance + j] += 0.5 * image[(i - 1) * distance + j] + j;
}

__attribute__((noinline)) static void upwards_unsigned(size_t n, size_t m, size_t distance, double *wrapped) {
  for (size_t i = 1; i < n; ++i)
    for (size_t j = 0; j < m; ++j)
      wrapped[i * distance + j] += 0.5 * wrapped[(i - 1) * distance + j] + (double)j;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(count);
  example_fill(A, count);
  double *last = A + count - m;
  upwards(n, m, -m, last);
  example_print("A", A, count);
  upwards_unsigned((size_t)n, (size_t)m, 0 - (size_t)m, last);
  example_print("A", A, count);
  free(A);
  return 0;
}
