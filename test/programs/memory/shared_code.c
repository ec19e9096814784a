// Three products of which two have the same code: one function under several descriptors, each launched with its own arrays and sizes.
// ARGS: 521 530 9
// ARGS: 640 514 40
// OFFLOAD: yes
// KERNELS: product
#include "example.h"

__attribute__((noinline)) static void product(int n, int m, int k, TYPE A[n][k], TYPE B[k][m], TYPE C[n][k], TYPE D[k][m], TYPE E[n][m],
                                              TYPE F[n][m], TYPE G[n][n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int l = 0; l < k; ++l)
        E[i][j] += A[i][l] * B[l][j];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int l = 0; l < k; ++l)
        F[i][j] += C[i][l] * D[l][j];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l)
        G[i][j] += E[i][l] * F[j][l];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 521), m = (int)example_arg(argc, argv, 2, 530), k = (int)example_arg(argc, argv, 3, 9);
  size_t nk = (size_t)n * k, km = (size_t)k * m, nm = (size_t)n * m, nn = (size_t)n * n;
  TYPE *A = example_array(nk), *B = example_array(km), *C = example_array(nk), *D = example_array(km);
  TYPE *E = example_array(nm), *F = example_array(nm), *G = example_array(nn);
  example_fill(A, nk);
  example_fill(B, km);
  example_fill(C, nk);
  example_fill(D, km);
  example_fill(E, nm);
  example_fill(F, nm);
  example_fill(G, nn);
  product(n, m, k, (void *)A, (void *)B, (void *)C, (void *)D, (void *)E, (void *)F, (void *)G);
  example_print("E", E, nm);
  example_print("F", F, nm);
  example_print("G", G, nn);
  return 0;
}
