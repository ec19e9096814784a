/* Durbin's recursion: the Yule-Walker system of a positive definite Toeplitz matrix with unit diagonal (Golub and Van Loan, Matrix
 * Computations, algorithm 4.7.1).
 * durbin [N [SEED]] */
#define SIZES(X) X(1, n, 60)
#include "algorithm.h"

KERNEL(VECTOR(r, n), VECTOR(y, n), VECTOR(z, n)) {
  TYPE alpha = -r[0], beta = 1;
  y[0] = -r[0];
  for (INDEX k = 1; k < n; ++k) {
    beta = (1 - alpha * alpha) * beta;
    TYPE sum = 0;
    for (INDEX i = 0; i < k; ++i)
      sum += r[k - i - 1] * y[i];
    alpha = -(r[k] + sum) / beta;
    for (INDEX i = 0; i < k; ++i)
      z[i] = y[i] + alpha * y[k - i - 1];
    for (INDEX i = 0; i < k; ++i)
      y[i] = z[i];
    y[k] = alpha;
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *r = example_array(n), *y = example_array(n), *z = example_array(n);
  REPEAT {
    /* The off-diagonal elements of a row add up to less than the diagonal. */
    fill_between(r, n, -0.5 / (double)n, 0.5 / (double)n);
    example_fill(z, n);
    CALL_KERNEL(r, y, z);
  }
  example_print("y", y, n);
  example_print("z", z, n);
  free(r);
  free(y);
  free(z);
  return 0;
}
