// Conditions choose the factor of a counter among constants: by a shift, a product, in columns and in rows, under nested choices, and with a factor that may be negative or 0.
// ARGS: 1500 30
// ARGS: 5 3
// ARGS: 1 1
// ARGS: 0 0
// OFFLOAD: yes
// KERNELS: doubled tripled shifted rows nested folded other_counter
#include "example.h"

#define N __attribute__((noinline)) static void

N doubled(float *restrict a, const float *restrict b, int n) {
  for (int i = 0; i < n; i++)
    a[i] = b[i * (i < 5 ? 2 : 1)] + 8.0f;
}

N tripled(float *restrict a, const float *restrict b, int n) {
  for (int i = 0; i < n; i++)
    a[i] = b[i * (i < 5 ? 3 : 1)] - 2.0f;
}

N shifted(float *restrict a, const float *restrict b, int n) {
  for (int i = 0; i < n; i++)
    a[i] = b[(long)i << (i > 7 ? 1 : 2)] * 0.5f;
}

N rows(float *restrict a, const float *restrict b, int n, int m) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i * m + j] = b[(i < 5 ? 3 * i : i) * m + j] + 9.0f;
}

N nested(float *restrict a, const float *restrict b, int n) {
  for (int i = 0; i < n; i++)
    a[i] += b[i * (i < 4 ? 4 : i < 9 ? 3 : 2) + 1];
}

N folded(float *restrict a, const float *restrict b, int n) {
  for (int i = 0; i < n; i++)
    a[i] += b[i * (2 * i < n ? 1 : i < n - 3 ? 0 : -1) + n];
}

N other_counter(float *restrict a, const float *restrict b, int n, int m) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i * m + j] -= b[i * (j < 3 ? 7 : 5) + j];
}

static void show(const char *name, const float *a, int count) {
  printf("%s %016llx\n", name, (unsigned long long)example_hash(a, (size_t)count * sizeof *a));
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1500), m = (int)example_arg(argc, argv, 2, 30);
  int all = (n + 12) * (m + 12) * 3;
  float *a = malloc((size_t)all * sizeof *a), *b = malloc((size_t)all * sizeof *b);
  for (int i = 0; i < all; i++) {
    a[i] = (float)(i % 37);
    b[i] = (float)(i % 101) * 0.25f;
  }
  doubled(a, b, n);
  show("doubled", a, all);
  tripled(a, b, n);
  show("tripled", a, all);
  shifted(a, b, n);
  show("shifted", a, all);
  rows(a, b, n, m);
  show("rows", a, all);
  nested(a, b, n);
  show("nested", a, all);
  folded(a, b, n);
  show("folded", a, all);
  other_counter(a, b, n, m);
  show("other_counter", a, all);
  free(a);
  free(b);
  return 0;
}
