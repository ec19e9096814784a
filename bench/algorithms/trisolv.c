/* L x = b by forward substitution.
 * trisolv [N [SEED]] */
#define SIZES(X) X(1, n, 70)
#include "algorithm.h"

#define L(i, j) AT2(L, n, i, j)

KERNEL(MATRIX(L, n, n), VECTOR(x, n), VECTOR(b, n)) {
  for (INDEX i = 0; i < n; ++i) {
    x[i] = b[i];
    for (INDEX j = 0; j < i; ++j)
      x[i] -= L(i, j) * x[j];
    x[i] = x[i] / L(i, i);
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *L = example_array((size_t)n * n), *x = example_array(n), *b = example_array(n);
  REPEAT {
    fill_dominant(L, n);
    example_fill(b, n);
    CALL_KERNEL(L, x, b);
  }
  example_print("x", x, n);
  free(L);
  free(x);
  free(b);
  return 0;
}
