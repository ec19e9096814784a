/* A x = b by LU factorisation and two substitutions, with a scalar for each sum.
 * ludcmp [N [SEED]] */
#define SIZES(X) X(1, n, 50)
#include "algorithm.h"

#define A(i, j) AT2(A, n, i, j)

KERNEL(MATRIX(A, n, n), VECTOR(b, n), VECTOR(x, n), VECTOR(y, n)) {
  TYPE w;
  for (INDEX i = 0; i < n; ++i) {
    for (INDEX j = 0; j < i; ++j) {
      w = A(i, j);
      for (INDEX k = 0; k < j; ++k)
        w -= A(i, k) * A(k, j);
      A(i, j) = w / A(j, j);
    }
    for (INDEX j = i; j < n; ++j) {
      w = A(i, j);
      for (INDEX k = 0; k < i; ++k)
        w -= A(i, k) * A(k, j);
      A(i, j) = w;
    }
  }
  for (INDEX i = 0; i < n; ++i) {
    w = b[i];
    for (INDEX j = 0; j < i; ++j)
      w -= A(i, j) * y[j];
    y[i] = w;
  }
  for (INDEX i = n; i-- > 0;) {
    w = y[i];
    for (INDEX j = i + 1; j < n; ++j)
      w -= A(i, j) * x[j];
    x[i] = w / A(i, i);
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)n * n), *b = example_array(n), *x = example_array(n), *y = example_array(n);
  REPEAT {
    fill_dominant(A, n);
    example_fill(b, n);
    CALL_KERNEL(A, b, x, y);
  }
  example_print("A", A, (size_t)n * n);
  example_print("x", x, n);
  example_print("y", y, n);
  free(A);
  free(b);
  free(x);
  free(y);
  return 0;
}
