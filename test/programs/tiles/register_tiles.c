// Contractions large enough for several points a thread: sizes around tiles and strips, batches, transposed operands, integers.
// ARGS: 513 517 9
// ARGS: 512 256 8
// ARGS: 640 512 1
// ARGS: 3 530 17
// ARGS: 600 600 0
// ARGS: 1850 1910 11
// OFFLOAD: yes
// TURNS: 3
// KERNELS: product transposed batch
#include "example.h"

// Accumulation in memory, both operands along rows.
__attribute__((noinline)) static void product(int n, int m, int k, const double *restrict A, const double *restrict B,
                                              double *restrict C) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      C[i * m + j] *= 0.5;
      for (int l = 0; l < k; ++l)
        C[i * m + j] += 1.5 * A[i * k + l] * B[l * m + j];
    }
}

// Accumulation in a scalar, both operands transposed.
__attribute__((noinline)) static void transposed(int n, int m, int k, float A[k][n], float B[m][k], float C[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      float sum = 1;
      for (int l = 0; l < k; ++l)
        sum += A[l][i] * B[j][l];
      C[i][j] = sum;
    }
}

// A batch: a third parallel loop, so that smaller matrices are tiled. The shift keeps a subscript from being a coordinate alone.
__attribute__((noinline)) static void batch(int b, int n, int m, int k, int A[b][n][k], int B[k][m + 1], int C[b][n][m]) {
  for (int x = 0; x < b; ++x)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        for (int l = 0; l < k; ++l)
          C[x][i][j] += A[x][i][l] * B[l][j + 1];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 513), m = (int)example_arg(argc, argv, 2, 517);
  int k = (int)example_arg(argc, argv, 3, 9), s = 90;
  size_t nk = (size_t)n * k, km = (size_t)k * m, nm = (size_t)n * m;
  double *A = example_array(nk), *B = example_array(km), *C = example_array(nm);
  example_fill(A, nk);
  example_fill(B, km);
  example_fill(C, nm);
  product(n, m, k, A, B, C);
  example_print("product", C, nm);

  float *D = (float *)example_array(nk), *E = (float *)example_array(km), *F = (float *)example_array(nm);
  for (size_t i = 0; i < nk; ++i) D[i] = (float)example_uniform();
  for (size_t i = 0; i < km; ++i) E[i] = (float)example_uniform();
  if (k > 0) transposed(n, m, k, (float(*)[n])D, (float(*)[k])E, (float(*)[m])F);
  double sum = 0;
  if (k > 0)
    for (size_t i = 0; i < nm; ++i) sum = sum * 0.999 + F[i] * (double)(i % 97);
  example_print("transposed", &sum, 1);

  int b = 2, *G = malloc(sizeof(int) * (2 * s * k + 1)), *H = malloc(sizeof(int) * (k * (s + 1) + 1));
  int *I = malloc(sizeof(int) * b * s * s);
  for (int i = 0; i < 2 * s * k; ++i) G[i] = (int)(example_bits() & 1023);
  for (int i = 0; i < k * (s + 1); ++i) H[i] = (int)(example_bits() & 1023);
  for (int i = 0; i < b * s * s; ++i) I[i] = i;
  if (k > 0) batch(b, s, s, k, (int(*)[s][k])G, (int(*)[s + 1])H, (int(*)[s][s])I);
  double check = 0;
  for (int i = 0; i < b * s * s; ++i) check = check * 0.999 + I[i];
  example_print("batch", &check, 1);
  return 0;
}
