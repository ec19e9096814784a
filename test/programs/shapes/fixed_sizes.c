// Sizes known to the compiler, none a multiple of anything.
// ARGS:
// OFFLOAD: yes
#include "example.h"


enum { N = 37, M = 53, K = 41 };

__attribute__((noinline)) static void product(double C[N][M], double A[N][K], double B[K][M]) {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < M; ++j)
      for (int k = 0; k < K; ++k)
        C[i][j] += A[i][k] * B[k][j];
}

int main(void) {
  double *C = example_array(N * M), *A = example_array(N * K), *B = example_array(K * M);
  example_fill(C, N * M);
  example_fill(A, N * K);
  example_fill(B, K * M);
  product((double(*)[M])C, (double(*)[K])A, (double(*)[M])B);
  example_print("C", C, N * M);
  return 0;
}
