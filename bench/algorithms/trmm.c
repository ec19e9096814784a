/* B = alpha A' B with a unit lower triangular A, in place.
 * trmm [M N [SEED]] */
#define SIZES(X) X(1, m, 40) X(2, n, 50)
#include "algorithm.h"

#define A(i, j) AT2(A, m, i, j)
#define B(i, j) AT2(B, n, i, j)

KERNEL(TYPE alpha, MATRIX(A, m, m), MATRIX(B, m, n)) {
  for (INDEX i = 0; i < m; ++i)
    for (INDEX j = 0; j < n; ++j) {
      for (INDEX k = i + 1; k < m; ++k)
        B(i, j) += A(k, i) * B(k, j);
      B(i, j) = alpha * B(i, j);
    }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)m * m), *B = example_array((size_t)m * n);
  REPEAT {
    example_fill(A, (size_t)m * m);
    example_fill(B, (size_t)m * n);
    CALL_KERNEL((TYPE)1.5, A, B);
  }
  example_print("B", B, (size_t)m * n);
  free(A);
  free(B);
  return 0;
}
