// Calls with arrays that are the same, or begin within each other, where a read would see a store: the original loops run.
// ARGS: 40 9
// ARGS: 129 65
// OFFLOAD: fallback
// FALLBACK: overlap
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void stencil(int n, double *out, const double *in) {
  for (int i = 1; i < n - 1; i++)
    out[i] = 0.25 * in[i - 1] + 0.5 * in[i] + 0.25 * in[i + 1];
}

KERNEL void scale(int n, double *out, const double *in) {
  for (int i = 0; i < n; i++)
    out[i] = 0.5 * in[i] + 1;
}

KERNEL void transpose(int n, double *out, const double *in) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      out[i * n + j] = in[j * n + i];
}

KERNEL void gemm(int n, double *C, const double *A, const double *B) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i * n + j] *= 0.5;
      for (int k = 0; k < n; k++)
        C[i * n + j] += A[i * n + k] * B[k * n + j];
    }
}

KERNEL void reversed(int n, double *out, const double *in) {
  for (int i = 0; i < n; i++)
    out[i] = in[n - 1 - i];
}

// Rows of other lengths: equal subscripts are not equal elements.
KERNEL void pitched(int n, int m, double *out, long to, const double *in, long from) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      out[i * to + j] = in[i * from + j] + 0.25;
}

// The second loop reads what the first stored.
KERNEL void again(int n, double *out, double *other, const double *in) {
  for (int i = 0; i < n; i++)
    out[i] = 2 * in[i];
  for (int i = 0; i < n; i++)
    other[i] = in[i] + 1;
}

// The second store is of what is read after the first.
KERNEL void reread(int n, double *out, double *other, const double *in) {
  for (int i = 0; i < n; i++) {
    out[i] = 2 * in[i];
    other[i] = in[i] + 1;
  }
}

// Steps: each reads what the last one stored.
KERNEL void steps(int n, double *out, const double *in) {
  for (int t = 0; t < 3; t++)
    for (int i = 0; i < n; i++)
      out[i] = 0.5 * in[i] + t;
}

// Both are written.
KERNEL void both(int n, double *out, double *in) {
  for (int i = 0; i < n; i++) {
    out[i] = 2 * in[i];
    in[i] = in[i] + 1;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 100), m = (int)example_arg(argc, argv, 2, 7);
  size_t all = (size_t)n * n * 2;
  double *A = example_array(all), *B = example_array(all);
  example_fill(A, all);
  example_fill(B, all);
  stencil(n, A, A);
  stencil(n, A + 1, A);
  example_print("stencil", A, all);
  scale(n, A + 1, A);
  scale(n, A, A + 1);
  scale(n, A + n / 2, A);
  example_print("scale", A, all);
  transpose(n, A, A);
  gemm(n, A, A, B);
  gemm(n, A, B, A);
  gemm(n, A, A, A);
  example_print("gemm", A, all);
  reversed(n, A, A);
  pitched(n, m, A, m + 1, A, m);
  pitched(n, m, A, m, A, m + 2);
  again(n, A, B, A);
  reread(n, A, B, A);
  steps(n, A, A);
  both(n, B, B);
  example_print("A", A, all);
  example_print("B", B, all);
  free(A);
  free(B);
  return 0;
}
