/* y = alpha A x + beta B x.
 * gesummv [N [SEED]] */
#define SIZES(X) X(1, n, 60)
#include "algorithm.h"

#define A(i, j) AT2(A, n, i, j)
#define B(i, j) AT2(B, n, i, j)

KERNEL(TYPE alpha, TYPE beta, MATRIX(A, n, n), MATRIX(B, n, n), VECTOR(tmp, n), VECTOR(x, n), VECTOR(y, n)) {
  for (INDEX i = 0; i < n; ++i) {
    tmp[i] = 0;
    y[i] = 0;
    for (INDEX j = 0; j < n; ++j) {
      tmp[i] = A(i, j) * x[j] + tmp[i];
      y[i] = B(i, j) * x[j] + y[i];
    }
    y[i] = alpha * tmp[i] + beta * y[i];
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)n * n), *B = example_array((size_t)n * n);
  void *tmp = example_array(n), *x = example_array(n), *y = example_array(n);
  REPEAT {
    example_fill(A, (size_t)n * n);
    example_fill(B, (size_t)n * n);
    example_fill(x, n);
    CALL_KERNEL((TYPE)1.5, (TYPE)1.2, A, B, tmp, x, y);
  }
  example_print("tmp", tmp, n);
  example_print("y", y, n);
  free(A);
  free(B);
  free(tmp);
  free(x);
  free(y);
  return 0;
}
