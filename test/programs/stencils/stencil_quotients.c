// Stencils that divide and take roots: operands of usual size, and zeros, denormal, huge and tiny ones among them, for which the
// fused steps have code of their own. In rows of blocks of eight exponents are alike, so that neighbours do not hide each other's last bits.
// ARGS: 3 200
// ARGS: 0 9
// ARGS: 1 2
// ARGS: 5 3
// ARGS: 9 67
// ARGS: 17 40
// OFFLOAD: yes
// KERNELS: quotients normalise one_line
// STRATEGY: hybrid 1x4x24
// STRATEGY: hybrid 1x2x16 windows+unroll+passing
// FLAGS: -fno-math-errno
#include "example.h"
#include <math.h>

__attribute__((noinline)) static void quotients(int steps, int n, float U[2][n][n], float P[n][n], float Q[n][n], float R[n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        U[(t + 1) % 2][i][j] = 0.25f * (U[t % 2][i][j - 1] - U[t % 2][i + 1][j]) + P[i][j] / Q[i][j] + sqrtf(R[i][j]);
}

__attribute__((noinline)) static void normalise(int steps, int n, float G[2][n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j) {
        float x = G[t % 2][i][j + 1] - G[t % 2][i][j - 1], y = G[t % 2][i + 1][j] - G[t % 2][i - 1][j];
        G[(t + 1) % 2][i][j] = 0.9f * G[t % 2][i][j] + x / (0.5f + sqrtf(x * x + y * y)) + 0.1f / G[t % 2][i][j];
      }
}

__attribute__((noinline)) static void one_line(int steps, int n, float *restrict A, float *restrict B) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      B[i] = A[i] / (A[i - 1] + 2.0f) + sqrtf(A[i + 1]);
    for (int i = 1; i < n - 1; ++i)
      A[i] = B[i];
  }
}

/* A number of about 2^exponent, of either sign if `sign` is set. */
static float sized(int exponent, int sign) {
  float mantissa = (float)(1 + example_uniform() / 2);
  return ldexpf(sign && example_uniform() < 0 ? -mantissa : mantissa, exponent);
}

__attribute__((noinline)) static void fill(int n, float *P, float *Q, float *R, float *G, float *A) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      size_t at = (size_t)i * n + j;
      // The first rows are usual.
      int block = i < 32 ? 0 : i / 8;
      P[at] = i >= 48 && at % 7 == 0 ? 0.0f : sized(block * 37 % 200 - (block ? 140 : 0), 1);
      Q[at] = sized(block * 53 % 120 - (block ? 60 : 0), 1);
      R[at] = i >= 48 && at % 11 == 0 ? 0.0f : sized(block * 91 % 260 - (block ? 140 : 0), 0);
      G[at] = G[(size_t)n * n + at] = i >= 48 && at % 301 == 0 ? 1e-30f : sized(0, 1);
      A[at] = at % 3000 > 2000 ? 0.0f : sized(0, 0);
    }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 9), n = (int)example_arg(argc, argv, 2, 67);
  size_t count = (size_t)n * n;
  float *U = calloc(2 * count, sizeof(float)), *G = malloc(2 * count * sizeof(float));
  float *P = malloc(count * sizeof(float)), *Q = malloc(count * sizeof(float)), *R = malloc(count * sizeof(float));
  float *A = malloc(count * sizeof(float)), *B = calloc(count, sizeof(float));
  fill(n, P, Q, R, G, A);
  quotients(steps, n, (void *)U, (void *)P, (void *)Q, (void *)R);
  normalise(steps, n, (void *)G);
  one_line(steps, (int)count, A, B);
  uint64_t hash[3] = {example_hash(U, 2 * count * sizeof(float)), example_hash(G, 2 * count * sizeof(float)), example_hash(A, count * sizeof(float))};
  for (int k = 0; k < 3; ++k)
    printf("%016llx\n", (unsigned long long)hash[k]);
  int nans = 0;
  for (size_t k = 0; k < 2 * count; ++k)
    nans += isnan(U[k]) + isnan(G[k]);
  printf("%d nans\n", nans);
  return 0;
}
