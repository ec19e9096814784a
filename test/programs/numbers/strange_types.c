// long double, __int128, _Bool and vector types: not all of them exist on a GPU.
// ARGS: 100
// ARGS: 0
// ARGS: 1
// OFFLOAD: yes
// KERNELS: kernel
#include "example.h"


typedef float quad __attribute__((vector_size(16)));

__attribute__((noinline)) static void kernel(int n, long double *restrict a, unsigned __int128 *restrict b, _Bool *restrict c,
                                             quad *restrict d) {
  for (int i = 0; i < n; ++i)
    a[i] = a[i] * 0.5L + 1.0L;
  for (int i = 0; i < n; ++i)
    b[i] = b[i] * 3 + (unsigned)i;
  for (int i = 0; i < n; ++i)
    c[i] = !c[i] && (i & 4);
  for (int i = 0; i < n; ++i)
    d[i] = d[i] * 0.5f + d[i];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 100);
  long double *a = calloc((size_t)n + 1, sizeof *a);
  unsigned __int128 *b = calloc((size_t)n + 1, sizeof *b);
  _Bool *c = calloc((size_t)n + 1, sizeof *c);
  quad *d = aligned_alloc(16, ((size_t)n + 1) * sizeof *d);
  if (!a || !b || !c || !d)
    return 2;
  for (int i = 0; i < n; ++i) {
    a[i] = example_uniform();
    b[i] = (unsigned __int128)example_bits() << 64 | example_bits();
    c[i] = example_bits() & 1;
    for (int k = 0; k < 4; ++k)
      d[i][k] = (float)example_uniform();
  }
  kernel(n, a, b, c, d);
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += (double)a[i];
  printf("%.17g %016llx %016llx %016llx\n", sum, (unsigned long long)example_hash(b, sizeof *b * (size_t)n),
         (unsigned long long)example_hash(c, (size_t)n), (unsigned long long)example_hash(d, sizeof *d * (size_t)n));
  return 0;
}
