// Stencils as their users write them: sums over neighbours by loops, written into a value or into the element itself, without the middle, with
// coefficients from a table, on exchanged grids; steps that choose between two results by data.
// ARGS: 0 9
// ARGS: 1 5
// ARGS: 7 33
// ARGS: 12 70
// OFFLOAD: yes
// TURNS: 3
#include "example.h"

#define R 3
static const double weight[R + 1] = {0.3, 0.07, -0.05, 0.04};
static const float cube[3][3][3] = {{{.01f, .02f, -.03f}, {.02f, .04f, .01f}, {-.03f, .02f, .01f}},
                                    {{.02f, -.04f, .02f}, {.05f, .9f, .04f}, {.02f, .05f, -.03f}},
                                    {{.01f, .02f, .01f}, {.03f, -.04f, .02f}, {.01f, .02f, .01f}}};

__attribute__((noinline)) static void star(int steps, int n, double A[2][n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = R; i < n - R; ++i)
      for (int j = R; j < n - R; ++j) {
        double sum = weight[0] * A[t % 2][i][j];
        for (int d = 1; d <= R; ++d)
          sum += weight[d] * (A[t % 2][i - d][j] + A[t % 2][i + d][j] - A[t % 2][i][j - d] + A[t % 2][i][j + d]);
        A[(t + 1) % 2][i][j] = sum;
      }
}

__attribute__((noinline)) static void box(int steps, int n, float A[restrict n][n][n], float B[restrict n][n][n]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        for (int k = 1; k < n - 1; ++k) {
          float sum = 0;
          for (int a = -1; a <= 1; ++a)
            for (int b = -1; b <= 1; ++b)
              for (int c = -1; c <= 1; ++c)
                sum += cube[a + 1][b + 1][c + 1] * A[i + a][j + b][k + c];
          B[i][j][k] = sum;
        }
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        for (int k = 1; k < n - 1; ++k)
          A[i][j][k] = B[i][j][k];
  }
}

__attribute__((noinline)) static void life(int steps, int n, int L[2][n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j) {
        int around = 0;
        for (int a = -1; a <= 1; ++a)
          for (int b = -1; b <= 1; ++b) {
            if (a == 0 && b == 0)
              continue;
            around += L[t % 2][i + a][j + b];
          }
        L[(t + 1) % 2][i][j] = around == 3 || (around == 2 && L[t % 2][i][j]);
      }
}

__attribute__((noinline)) static void exchanged(int steps, int n, float *u, float *v) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 4; i < n - 4; ++i)
      for (int j = 4; j < n - 4; ++j) {
        float sum = 0.1f * u[i * n + j];
        for (int d = 1; d <= 4; ++d)
          sum += 0.2f / d * (u[(i - d) * n + j] - u[(i + d) * n + j] + u[i * n + j - d] + u[i * n + j + d]);
        v[i * n + j] = sum;
      }
    float *other = u;
    u = v;
    v = other;
  }
}

__attribute__((noinline)) static void in_memory(int steps, int n, double A[restrict n][n], double B[restrict n][n]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 2; i < n - 2; ++i)
      for (int j = 2; j < n - 2; ++j) {
        B[i][j] = 0;
        for (int d = -2; d <= 2; ++d)
          B[i][j] += 0.23 * A[i + d][j] - 0.12 * A[i][j + d];
      }
    for (int i = 2; i < n - 2; ++i)
      for (int j = 2; j < n - 2; ++j)
        A[i][j] = B[i][j];
  }
}

__attribute__((noinline)) static void either(int steps, int n, double A[2][n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j) {
        double x = A[t % 2][i][j + 1], y = A[t % 2][i + 1][j];
        if (x > y)
          A[(t + 1) % 2][i][j] = x * 0.5 + A[t % 2][i - 1][j];
        else
          A[(t + 1) % 2][i][j] = y * 0.25 - A[t % 2][i][j - 1];
      }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 7), n = (int)example_arg(argc, argv, 2, 33);
  size_t square = (size_t)n * n, small = n < 40 ? n : 40;
  double *A = example_array(2 * square);
  float *C = malloc(2 * small * small * small * sizeof *C), *F = malloc(2 * square * sizeof *F);
  int *L = malloc(2 * square * sizeof *L);
  example_fill(A, 2 * square);
  star(steps, n, (void *)A);
  example_print("star", A, 2 * square);
  for (size_t i = 0; i < 2 * small * small * small; ++i)
    C[i] = (float)((i * 7919 + 13) % 1013) / 1013;
  box(steps, (int)small, (void *)C, (void *)(C + small * small * small));
  for (size_t i = 0; i < 2 * square; ++i) {
    L[i] = (i * 7919 + i / 7) % 3 == 0;
    F[i] = (float)((i * 104729 + 11) % 2017) / 2017;
  }
  life(steps, n, (void *)L);
  exchanged(steps, n, F, F + square);
  double sum[3] = {0};
  for (size_t i = 0; i < 2 * square; ++i) {
    sum[0] += L[i] * (double)(i % 101);
    sum[1] += F[i] * (double)(i % 103);
  }
  for (size_t i = 0; i < 2 * small * small * small; ++i)
    sum[2] += C[i] * (double)(i % 107);
  example_print("life, exchanged, box", sum, 3);
  in_memory(steps, n, (void *)A, (void *)(A + square));
  example_print("in memory", A, 2 * square);
  example_fill(A, 2 * square);
  either(steps, n, (void *)A);
  example_print("either", A, 2 * square);
  free(A);
  free(C);
  free(F);
  free(L);
  return 0;
}
