/* G = (A B) (C D).
 * 3mm [NI NJ NK NL NM [SEED]] */
#define SIZES(X) X(1, ni, 40) X(2, nj, 44) X(3, nk, 48) X(4, nl, 52) X(5, nm, 56)
#include "algorithm.h"

#define A(i, k) AT2(A, nk, i, k)
#define B(k, j) AT2(B, nj, k, j)
#define C(j, m) AT2(C, nm, j, m)
#define D(m, l) AT2(D, nl, m, l)
#define E(i, j) AT2(E, nj, i, j)
#define F(j, l) AT2(F, nl, j, l)
#define G(i, l) AT2(G, nl, i, l)

KERNEL(MATRIX(E, ni, nj), MATRIX(A, ni, nk), MATRIX(B, nk, nj), MATRIX(F, nj, nl), MATRIX(C, nj, nm), MATRIX(D, nm, nl),
       MATRIX(G, ni, nl)) {
  for (INDEX i = 0; i < ni; ++i)
    for (INDEX j = 0; j < nj; ++j) {
      E(i, j) = 0;
      for (INDEX k = 0; k < nk; ++k)
        E(i, j) += A(i, k) * B(k, j);
    }
  for (INDEX j = 0; j < nj; ++j)
    for (INDEX l = 0; l < nl; ++l) {
      F(j, l) = 0;
      for (INDEX m = 0; m < nm; ++m)
        F(j, l) += C(j, m) * D(m, l);
    }
  for (INDEX i = 0; i < ni; ++i)
    for (INDEX l = 0; l < nl; ++l) {
      G(i, l) = 0;
      for (INDEX j = 0; j < nj; ++j)
        G(i, l) += E(i, j) * F(j, l);
    }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *A = example_array((size_t)ni * nk), *B = example_array((size_t)nk * nj), *C = example_array((size_t)nj * nm);
  void *D = example_array((size_t)nm * nl), *E = example_array((size_t)ni * nj), *F = example_array((size_t)nj * nl);
  void *G = example_array((size_t)ni * nl);
  REPEAT {
    example_fill(A, (size_t)ni * nk);
    example_fill(B, (size_t)nk * nj);
    example_fill(C, (size_t)nj * nm);
    example_fill(D, (size_t)nm * nl);
    CALL_KERNEL(E, A, B, F, C, D, G);
  }
  example_print("E", E, (size_t)ni * nj);
  example_print("F", F, (size_t)nj * nl);
  example_print("G", G, (size_t)ni * nl);
  free(A);
  free(B);
  free(C);
  free(D);
  free(E);
  free(F);
  free(G);
  return 0;
}
