// Borders closed by `% n` for any n: signed, of 64 bits unsigned, through a function, with values that stay within a few multiples of n.
// ARGS: 33 17
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 5 1
// ARGS: 0 0
// ARGS: 64 31
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void torus(int n, int m, const double *restrict A, double *restrict B) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      B[i * m + j] = A[((i + 1) % n) * m + j] - 0.5 * A[i * m + (j + m - 1) % m] + 0.25 * A[((i - 1 + n) % n) * m + (j + 1) % m];
}

__attribute__((noinline)) static void wide(size_t n, size_t m, const double *restrict A, double *restrict B) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < m; j++)
      B[i * m + j] += A[((i + 1) % n) * m + j] * 0.5 + A[((i + n - 1) % n) * m + (j + 1) % m];
}

static int at(int i, int j, int n, int m) { return ((i + n) % n) * m + (j + m) % m; }

__attribute__((noinline)) static void neighbours(int n, int m, const double *restrict A, double *restrict B) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double sum = 0;
      for (int a = -1; a <= 1; a++)
        for (int b = -1; b <= 1; b++)
          if (a || b)
            sum += A[at(i + a, j + b, n, m)];
      B[i * m + j] = B[i * m + j] * 0.5 + sum;
    }
}

/* The quotient, which is 0 or 1, and a remainder in place: no two iterations touch one element. */
__attribute__((noinline)) static void ring(int n, const double *restrict A, double *restrict B) {
  for (int i = 0; i < n; i++)
    B[(i + 3) % (n + 3)] += A[(2 * i + 1) / (n + n)] + (i + n - 1) / n;
}

/* A window that may be longer than the ring: then the loop runs on the host. */
__attribute__((noinline)) static void filter(int n, int taps, const double *restrict x, const double *restrict h, double *restrict y) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 0; k < taps; k++)
      sum += h[k] * x[(i - k + n) % n];
    y[i] = sum;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m + n + 3;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  torus(n, m, A, B);
  example_print("B", B, count);
  wide(n, m, B, A);
  example_print("A", A, count);
  neighbours(n, m, A, B);
  example_print("B", B, count);
  ring(n, A, B);
  example_print("B", B, count);
  filter(n, m < n ? m : n, A, A + n, B);
  example_print("B", B, count);
  filter(n, 3, A, A + (n > 3 ? n : 0), B);
  example_print("B", B, count);
  free(A);
  free(B);
  return 0;
}
