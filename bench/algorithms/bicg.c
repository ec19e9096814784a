/* s = A' r and q = A p, the two products of a step of biconjugate gradients.
 * bicg [M N [SEED]] */
#define SIZES(X) X(1, m, 60) X(2, n, 70)
#include "algorithm.h"

#define A(i, j) AT2(A, m, i, j)

KERNEL(MATRIX(A, n, m), VECTOR(s, m), VECTOR(q, n), VECTOR(p, m), VECTOR(r, n)) {
  for (INDEX j = 0; j < m; ++j)
    s[j] = 0;
  for (INDEX i = 0; i < n; ++i) {
    q[i] = 0;
    for (INDEX j = 0; j < m; ++j) {
      s[j] = s[j] + r[i] * A(i, j);
      q[i] = q[i] + A(i, j) * p[j];
    }
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)n * m), *s = example_array(m), *q = example_array(n), *p = example_array(m);
  void *r = example_array(n);
  REPEAT {
    example_fill(A, (size_t)n * m);
    example_fill(p, m);
    example_fill(r, n);
    CALL_KERNEL(A, s, q, p, r);
  }
  example_print("s", s, m);
  example_print("q", q, n);
  free(A);
  free(s);
  free(q);
  free(p);
  free(r);
  return 0;
}
