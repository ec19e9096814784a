// Sums over neighbours divided by constants, in floats and doubles: in two operations, in three, by a constant that has neither, and numerators that are zeros of both signs, subnormal,
// tiny, huge, infinite and no numbers.
// ARGS: 0 9
// ARGS: 1 5
// ARGS: 5 40
// ARGS: 8 70
// OFFLOAD: yes
// TURNS: 3
// KERNELS: means thirds scaled wide huge_divisor
#include "example.h"
#include <math.h>

#define STEP(name, type, expression)                                                                                                                           \
  __attribute__((noinline)) static void name(int steps, int n, type A[2][n][n]) {                                                                              \
    for (int t = 0; t < steps; ++t)                                                                                                                            \
      for (int i = 1; i < n - 1; ++i)                                                                                                                          \
        for (int j = 1; j < n - 1; ++j) {                                                                                                                      \
          type l = A[t % 2][i][j - 1], m = A[t % 2][i][j], r = A[t % 2][i + 1][j];                                                                             \
          A[(t + 1) % 2][i][j] = expression;                                                                                                                   \
        }                                                                                                                                                      \
  }

STEP(means, float, (5.1f * l + 12.1f * m + 15.0f * r) / 118)
STEP(thirds, float, (l - r) / -3 + m / 1.7f)
STEP(scaled, float, m / 0.1f - l / 16777213.0f)
STEP(wide, double, (l + m - r) / 3.3 + l / 118)
STEP(huge_divisor, float, m / 3e20f + r / 7e-20f)

static const float special[] = {0.0f, -0.0f, 1e-40f, -1e-45f, 1e-38f, 3e-19f, -8.7e-19f, 3e38f, -3.4e38f, INFINITY, -INFINITY, NAN, 1e20f};

/* Usual numbers; from row 16 on some of the others, of which few meet in one block. */
__attribute__((noinline)) static void fill(int n, float *A, double *D) {
  for (int k = 0; k < 2 * n * n; ++k) {
    int i = k / n % n;
    A[k] = i >= 16 && k % 61 == 0 ? special[k / 61 % 13] : k % 5 ? (float)example_uniform() : 0.0f;
    D[k] = i >= 16 && k % 67 == 0 ? special[k / 67 % 13] * (k % 2 ? 1e-300 : 1e-2) : k % 7 ? example_uniform() : -0.0;
  }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5), n = (int)example_arg(argc, argv, 2, 40);
  size_t count = 2 * (size_t)n * n;
  float *A = malloc(count * sizeof *A);
  double *D = malloc(count * sizeof *D);
  void (*const steps_of[])(int, int, float[2][n][n]) = {means, thirds, scaled, huge_divisor};
  for (int f = 0; f < 4; ++f) {
    fill(n, A, D);
    steps_of[f](steps, n, (void *)A);
    for (size_t k = 0; k < count; ++k)
      A[k] = isnan(A[k]) ? NAN : A[k];
    printf("%016llx\n", (unsigned long long)example_hash(A, count * sizeof *A));
  }
  fill(n, A, D);
  wide(steps, n, (void *)D);
  for (size_t k = 0; k < count; ++k)
    D[k] = isnan(D[k]) ? NAN : D[k];
  printf("%016llx\n", (unsigned long long)example_hash(D, count * sizeof *D));
  return 0;
}
