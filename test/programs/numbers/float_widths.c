// float and double in one expression, subnormal floats, conversions to and from integers, division.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
// KERNELS: kernel
#include "example.h"


__attribute__((noinline)) static void kernel(int n, int m, float *restrict a, double *restrict b, int *restrict c) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      float x = a[i * m + j];
      double y = b[i * m + j];
      a[i * m + j] = (float)(y / (x + 3.0f)) + x * 1e-38f;
      b[i * m + j] = (double)(x * x) - y * (double)i;
      c[i * m + j] += (int)(x * 1000.0f) - (int)(y * 100.0);
    }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      a[i * m + j] = a[i * m + j] * 1e-39f * 0.5f + (float)c[i * m + j] * 1e-42f;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  float *a = malloc(4 * count + 4);
  double *b = malloc(8 * count + 8);
  int *c = calloc(count + 1, 4);
  if (!a || !b || !c)
    return 2;
  for (size_t i = 0; i < count; ++i) {
    a[i] = (float)example_uniform();
    b[i] = example_uniform();
  }
  kernel(n, m, a, b, c);
  printf("%016llx %016llx %016llx\n", (unsigned long long)example_hash(a, 4 * count),
         (unsigned long long)example_hash(b, 8 * count), (unsigned long long)example_hash(c, 4 * count));
  return 0;
}
