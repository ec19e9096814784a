// The gemm of Grosser et al. (ICS 2015): on variable-length arrays, and on structures that hold pointer and sizes. There nothing ties the
// sizes of one array to those of another; where rows are shorter than what is read of them, they run into each other, which is no obstacle.
// ARGS: 33 17 9
// ARGS: 0 0 0
// ARGS: 1 1 1
// ARGS: 2 3 40
// ARGS: 31 65 4
// OFFLOAD: yes
#include "example.h"

struct matrix {
  size_t size0, size1;
  double *base;
};

__attribute__((noinline)) static void on_arrays(int n, int m, int p, double C[n][m], double A[n][p], double B[p][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * B[k][j];
}

__attribute__((noinline)) static double *base(struct matrix *m) { return m->base; }

/* C[i][j] += A[i][k] * B[k][j] for the sizes of C and the columns of A. */
__attribute__((noinline)) static void on_structures(struct matrix *C, struct matrix *A, struct matrix *B) {
  double *c = base(C), *a = base(A), *b = base(B);
  size_t n = C->size0, m = C->size1, p = A->size1;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < m; j++)
      for (size_t k = 0; k < p; k++)
        c[i * C->size1 + j] += a[i * A->size1 + k] * b[k * B->size1 + j];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17), p = (int)example_arg(argc, argv, 3, 9);
  size_t count = (size_t)n * m;
  double *C = example_array(count), *A = example_array((size_t)n * p), *B = example_array((size_t)p * m + m);
  example_fill(C, count);
  example_fill(A, (size_t)n * p);
  example_fill(B, (size_t)p * m + m);
  if (count && p) {
    on_arrays(n, m, p, (double(*)[m])C, (double(*)[p])A, (double(*)[m])B);
    struct matrix c = {n, m, C}, a = {n, p, A}, b = {p, m, B};
    on_structures(&c, &a, &b);
    /* Rows of B one after another, each a little later in the same memory. */
    b.size1 = 1;
    on_structures(&c, &a, &b);
  }
  example_print("C", C, count);
  free(C);
  free(A);
  free(B);
  return 0;
}
