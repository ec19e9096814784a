/* Each row of a cube times a matrix, in place: the inner product of multi-resolution analysis.
 * doitgen [NQ NR NP [SEED]] */
#define SIZES(X) X(1, nq, 8) X(2, nr, 10) X(3, np, 12)
#include "algorithm.h"

#define A(r, q, p) AT3(A, nq, np, r, q, p)
#define C4(s, p) AT2(C4, np, s, p)

KERNEL(CUBE(A, nr, nq, np), MATRIX(C4, np, np), VECTOR(sum, np)) {
  for (INDEX r = 0; r < nr; ++r)
    for (INDEX q = 0; q < nq; ++q) {
      for (INDEX p = 0; p < np; ++p) {
        sum[p] = 0;
        for (INDEX s = 0; s < np; ++s)
          sum[p] += A(r, q, s) * C4(s, p);
      }
      for (INDEX p = 0; p < np; ++p)
        A(r, q, p) = sum[p];
    }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)nr * nq * np), *C4 = example_array((size_t)np * np), *sum = example_array(np);
  REPEAT {
    example_fill(A, (size_t)nr * nq * np);
    example_fill(C4, (size_t)np * np);
    CALL_KERNEL(A, C4, sum);
  }
  example_print("A", A, (size_t)nr * nq * np);
  example_print("sum", sum, np);
  free(A);
  free(C4);
  free(sum);
  return 0;
}
