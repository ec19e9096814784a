/* Two products of a matrix with vectors, one of them transposed.
 * mvt [N [SEED]] */
#define SIZES(X) X(1, n, 60)
#include "algorithm.h"

#define A(i, j) AT2(A, n, i, j)

KERNEL(VECTOR(x1, n), VECTOR(x2, n), VECTOR(y1, n), VECTOR(y2, n), MATRIX(A, n, n)) {
  for (INDEX i = 0; i < n; ++i)
    for (INDEX j = 0; j < n; ++j)
      x1[i] = x1[i] + A(i, j) * y1[j];
  for (INDEX i = 0; i < n; ++i)
    for (INDEX j = 0; j < n; ++j)
      x2[i] = x2[i] + A(j, i) * y2[j];
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *x1 = example_array(n), *x2 = example_array(n), *y1 = example_array(n), *y2 = example_array(n);
  void *A = example_array((size_t)n * n);
  REPEAT {
    example_fill(x1, n);
    example_fill(x2, n);
    example_fill(y1, n);
    example_fill(y2, n);
    example_fill(A, (size_t)n * n);
    CALL_KERNEL(x1, x2, y1, y2, A);
  }
  example_print("x1", x1, n);
  example_print("x2", x2, n);
  free(x1);
  free(x2);
  free(y1);
  free(y2);
  free(A);
  return 0;
}
