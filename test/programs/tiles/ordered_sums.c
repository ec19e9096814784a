// Sums in order by one thread, of what loops beside them compute: strips of floats, of two arrays at once, and of a loop within a loop; sizes on both sides of
// whole strips.
// ARGS: 9000 3
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 8191 2
// ARGS: 8192 2
// ARGS: 8193 2
// ARGS: 4097 5
// ARGS: 16385 1
// OFFLOAD: yes
// KERNELS: floats two rows
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void floats(int n, int m, const double A[n][m], float *x, float *sum) {
  for (int i = 0; i < n; ++i) {
    double row = 0.25;
    for (int j = 0; j < m; ++j)
      row += A[i][j];
    x[i] = (float)row;
  }
  float all = 0.5f;
  for (int i = 0; i < n; ++i) {
    x[i] = x[i] * 1.5f - 0.25f;
    all += x[i];
  }
  for (int i = 0; i < n; ++i)
    x[i] = x[i] + 0.125f * all;
  *sum = all;
}

KERNEL void two(int n, int m, const float *z, double A[n][m], double *x, double *y) {
  for (int i = 0; i < n; ++i) {
    double row = 0.25;
    for (int j = 0; j < m; ++j)
      row -= A[i][j];
    x[i] = row;
  }
  double sum = y[0];
  for (int i = 0; i < n; ++i) {
    x[i] = 1.5 * x[i] - 0.5;
    sum += x[i] * z[i];
  }
  for (int i = 0; i < n; ++i)
    x[i] = x[i] - sum;
  y[0] = sum;
}

/* Each sum begins with the one before it. */
KERNEL void rows(int n, int m, double A[m][n], double *y) {
  double sum = y[2];
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n; ++i) {
      A[j][i] = 0.5 - A[j][i];
      sum = sum * 0.5 + A[j][i];
    }
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n; ++i)
      A[j][i] = A[j][i] - sum;
  y[2] = sum;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 9000), m = (int)example_arg(argc, argv, 2, 3);
  size_t count = (size_t)n * (m > 0 ? m : 1) + 1;
  double *A = example_array(count), *z = example_array(count), y[3] = {0.25, 0.5, 0.125};
  float *x = malloc(count * sizeof *x), sum = 0;
  example_fill(A, count);
  example_fill(z, count);
  for (size_t i = 0; i < count; ++i)
    x[i] = (float)example_uniform();
  floats(n, m, (void *)A, x, &sum);
  two(n, m, x, (void *)A, z, y);
  rows(n, m, (void *)A, y);
  printf("float %a\n", sum);
  example_print("y", y, 3);
  printf("A %016llx\n", (unsigned long long)example_hash(A, count * sizeof *A));
  printf("x %016llx\n", (unsigned long long)example_hash(x, count * sizeof *x));
  printf("z %016llx\n", (unsigned long long)example_hash(z, count * sizeof *z));
  free(A);
  free(x);
  free(z);
  return 0;
}
