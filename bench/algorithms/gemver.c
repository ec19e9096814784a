/* A matrix with two updates of rank one, then two products of it with vectors.
 * gemver [N [SEED]] */
#define SIZES(X) X(1, n, 60)
#include "algorithm.h"

#define A(i, j) AT2(A, n, i, j)

KERNEL(TYPE alpha, TYPE beta, MATRIX(A, n, n), VECTOR(u1, n), VECTOR(v1, n), VECTOR(u2, n), VECTOR(v2, n), VECTOR(w, n),
       VECTOR(x, n), VECTOR(y, n), VECTOR(z, n)) {
  for (INDEX i = 0; i < n; ++i)
    for (INDEX j = 0; j < n; ++j)
      A(i, j) = A(i, j) + u1[i] * v1[j] + u2[i] * v2[j];
  for (INDEX i = 0; i < n; ++i)
    for (INDEX j = 0; j < n; ++j)
      x[i] = x[i] + beta * A(j, i) * y[j];
  for (INDEX i = 0; i < n; ++i)
    x[i] = x[i] + z[i];
  for (INDEX i = 0; i < n; ++i)
    for (INDEX j = 0; j < n; ++j)
      w[i] = w[i] + alpha * A(i, j) * x[j];
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)n * n), *u1 = example_array(n), *v1 = example_array(n), *u2 = example_array(n);
  void *v2 = example_array(n), *w = example_array(n), *x = example_array(n), *y = example_array(n), *z = example_array(n);
  REPEAT {
    example_fill(A, (size_t)n * n);
    example_fill(u1, n);
    example_fill(v1, n);
    example_fill(u2, n);
    example_fill(v2, n);
    example_fill(w, n);
    example_fill(x, n);
    example_fill(y, n);
    example_fill(z, n);
    CALL_KERNEL((TYPE)1.5, (TYPE)1.2, A, u1, v1, u2, v2, w, x, y, z);
  }
  example_print("A", A, (size_t)n * n);
  example_print("x", x, n);
  example_print("w", w, n);
  free(A);
  free(u1);
  free(v1);
  free(u2);
  free(v2);
  free(w);
  free(x);
  free(y);
  free(z);
  return 0;
}
