// Arrays on the stack: fixed, variable-length and alloca.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
// KERNELS: kernel
#include "example.h"


__attribute__((noinline)) static double kernel(int n, int m) {
  double A[n + 1][m + 1];
  double small[24];
  double *flat = __builtin_alloca(sizeof(double) * (size_t)(n + 1));
  for (int i = 0; i <= n; ++i) {
    flat[i] = (double)i * 0.5;
    for (int j = 0; j <= m; ++j)
      A[i][j] = (double)(i * 7 + j) * 0.25;
  }
  for (int i = 0; i < 24; ++i)
    small[i] = (double)i / 3.0;
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= m; ++j)
      A[i][j] += A[i - 1][j] * small[(i + j) % 24] - flat[i];
  return A[n][m] + A[n / 2][m / 2] + flat[n] + small[5];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  printf("%.17g\n", kernel(n, m));
  return 0;
}
