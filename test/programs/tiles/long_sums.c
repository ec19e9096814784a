// Few results that are long sums: a matrix times itself, a tensor times two factors, products with few rows; sizes on both sides of where blocks of small tiles start, and rests of strips
// and of tiles.
// ARGS: 1128 13
// ARGS: 1190 20
// ARGS: 1087 8
// ARGS: 2600 1
// ARGS: 300 33
// ARGS: 0 5
// OFFLOAD: yes
// KERNELS: gram gram_of_floats factors wide
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void gram(int n, int m, const double A[n][m], double C[m][m]) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      double sum = 0.5;
      for (int k = 0; k < n; ++k)
        sum += A[k][i] * A[k][j];
      C[i][j] += sum;
    }
}

KERNEL void gram_of_floats(int n, int m, const float A[n][m], const float B[n][m], float C[m][m]) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k)
        sum += A[k][i] * B[k][j];
      C[i][j] = sum / (i + 1);
    }
}

/* n x 3 results. */
KERNEL void factors(int n, const float X[n][5][n], const float B[5][3], const float C[n][3], float M[n][3]) {
  for (int i = 0; i < n; ++i)
    for (int f = 0; f < 3; ++f) {
      float sum = 0;
      for (int j = 0; j < 5; ++j)
        for (int k = 0; k < n; ++k)
          sum += X[i][j][k] * B[j][f] * C[k][f];
      M[i][f] = sum;
    }
}

KERNEL void wide(int n, int m, const double A[m][n], const double B[m][n], double C[m][m]) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k)
        sum += A[i][k] * B[j][k];
      C[i][j] -= sum;
    }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1024), m = (int)example_arg(argc, argv, 2, 13);
  int t = n < 300 ? n : 300;
  size_t count = (size_t)n * m, results = (size_t)m * m, cube = (size_t)t * t * 5;
  double *A = malloc((count + 1) * sizeof *A), *B = malloc((count + 1) * sizeof *B), *C = malloc((results + 1) * sizeof *C);
  float *x = malloc((cube + count + 1) * sizeof *x), *y = malloc((count + 3 * t + 16) * sizeof *y), *z = malloc((results + 3 * t + 1) * sizeof *z);
  for (size_t i = 0; i < count; ++i) {
    A[i] = example_uniform();
    B[i] = example_uniform();
  }
  for (size_t i = 0; i < results; ++i)
    C[i] = example_uniform();
  for (size_t i = 0; i < cube + count; ++i)
    x[i] = (float)example_uniform();
  for (size_t i = 0; i < count + 3 * t + 16; ++i)
    y[i] = (float)example_uniform();
  for (size_t i = 0; i < results + 3 * t; ++i)
    z[i] = 0;
  gram(n, m, (void *)A, (void *)C);
  printf("gram %016llx\n", (unsigned long long)example_hash(C, results * sizeof *C));
  gram_of_floats(n, m, (void *)x, (void *)y, (void *)z);
  factors(t, (void *)x, (void *)y, (void *)(y + 15), (void *)(z + results));
  printf("floats %016llx\n", (unsigned long long)example_hash(z, (results + 3 * t) * sizeof *z));
  wide(n, m, (void *)A, (void *)B, (void *)C);
  printf("wide %016llx\n", (unsigned long long)example_hash(C, results * sizeof *C));
  free(A), free(B), free(C), free(x), free(y), free(z);
  return 0;
}
