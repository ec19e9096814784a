/* y = A' A x.
 * atax [M N [SEED]] */
#define SIZES(X) X(1, m, 60) X(2, n, 70)
#include "algorithm.h"

#define A(i, j) AT2(A, n, i, j)

KERNEL(MATRIX(A, m, n), VECTOR(x, n), VECTOR(y, n), VECTOR(tmp, m)) {
  for (INDEX j = 0; j < n; ++j)
    y[j] = 0;
  for (INDEX i = 0; i < m; ++i) {
    tmp[i] = 0;
    for (INDEX j = 0; j < n; ++j)
      tmp[i] = tmp[i] + A(i, j) * x[j];
    for (INDEX j = 0; j < n; ++j)
      y[j] = y[j] + A(i, j) * tmp[i];
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)m * n), *x = example_array(n), *y = example_array(n), *tmp = example_array(m);
  REPEAT {
    example_fill(A, (size_t)m * n);
    example_fill(x, n);
    CALL_KERNEL(A, x, y, tmp);
  }
  example_print("y", y, n);
  example_print("tmp", tmp, m);
  free(A);
  free(x);
  free(y);
  free(tmp);
  return 0;
}
