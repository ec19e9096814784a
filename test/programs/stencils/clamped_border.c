// Borders by selection: clamped neighbours (`i > 0 ? i - 1 : 0`, multiplied by the row length), corners by conditions that LLVM
// joins into one comparison, bounds that are selections, and a sum over the flat array behind the two-dimensional loops.
// ARGS: 33 17
// ARGS: 1 1
// ARGS: 1 5
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void smooth(int n, int m, const double *A, double *B) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      int up = i > 0 ? i - 1 : 0, down = i < n - 1 ? i + 1 : n - 1;
      int left = j > 0 ? j - 1 : 0, right = j < m - 1 ? j + 1 : m - 1;
      B[i * m + j] = 0.2 * (A[i * m + j] + A[up * m + j] + A[down * m + j] + A[i * m + left] + A[i * m + right]);
    }
}

__attribute__((noinline)) static void corners(int n, int m, double *A) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      if (i == 0 && j == 0)
        A[i * m + j] += 1.0;
      else if (i == n - 1 && j == m - 1)
        A[i * m + j] *= 1.5;
      else if (i == 0 || j == m - 1)
        A[i * m + j] -= 0.25;
      if (i - 4 < 0 || j - 7 < 0)
        A[i * m + j] *= 0.5;
    }
}

__attribute__((noinline)) static void diagonals(int n, int m, double *A) {
  for (int d = 0; d < n + m - 1; ++d)
    for (int i = d < m ? 0 : d - m + 1; i <= (d < n ? d : n - 1); ++i)
      A[i * m + d - i] += 0.125 * d;
}

__attribute__((noinline)) static double flat(int n, int m, double *A) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      A[i * m + j] = A[i * m + j] * 0.5 + i;
  double sum = 0;
  for (int k = 0; k < n * m; ++k)
    sum += A[k];
  return sum;
}

// The loop around stays on the host; the bound is a selection over its counter.
static volatile int rounds;
__attribute__((noinline)) static void windows(int n, int m, double *A) {
  for (int i = n - 1; i >= 0; i -= 2) {
    rounds += 1;
    for (int j = 0 > i - 2 ? 0 : i - 2; j < m; ++j)
      A[i * m + j] += 0.5 * j + i % 3;
    for (int j = 0; j < (i % 5 > 2 ? m / 2 : m); ++j)
      A[i * m + j] *= 1.25;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  smooth(n, m, A, B);
  corners(n, m, A);
  diagonals(n, m, B);
  windows(n, m, A);
  double sum = flat(n, m, B);
  example_print("A", A, count);
  example_print("B", B, count);
  example_print("sum", &sum, 1);
  free(A);
  free(B);
  return 0;
}
