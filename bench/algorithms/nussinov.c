/* The largest number of base pairs of a folded RNA, by dynamic programming over intervals (Nussinov and others, SIAM Journal on
 * Applied Mathematics 35, 1978).
 * nussinov [N [SEED]] */
#undef TYPE
#define TYPE int
#define SIZES(X) X(1, n, 50)
#include "algorithm.h"

#define table(i, j) AT2(table, n, i, j)
#define MAX(a, b) ((a) >= (b) ? (a) : (b))
#define PAIRS(a, b) ((a) + (b) == 3 ? 1 : 0)

KERNEL(VECTOR_OF(char, seq, n), MATRIX(table, n, n)) {
  for (INDEX i = n; i-- > 0;)
    for (INDEX j = i + 1; j < n; ++j) {
      if (j >= 1)
        table(i, j) = MAX(table(i, j), table(i, j - 1));
      if (i + 1 < n)
        table(i, j) = MAX(table(i, j), table(i + 1, j));
      if (j >= 1 && i + 1 < n) {
        if (i + 1 < j)
          table(i, j) = MAX(table(i, j), table(i + 1, j - 1) + PAIRS(seq[i], seq[j]));
        else
          table(i, j) = MAX(table(i, j), table(i + 1, j - 1));
      }
      for (INDEX k = i + 1; k < j; ++k)
        table(i, j) = MAX(table(i, j), table(i, k) + table(k + 1, j));
    }
}

int main(int argc, char **argv) {
  READ_SIZES;
  int *table = example_array((size_t)n * n);
  char *seq = (char *)example_array(n);
  REPEAT {
    for (size_t i = 0; i < (size_t)n; ++i)
      seq[i] = (char)random_between(0, 4);
    /* calloc'ed zeros would do; the generator's loop stays on the host. */
    for (size_t i = 0; i < (size_t)n * n; ++i)
      table[i] = (int)(example_bits() >> 63 >> 1);
    CALL_KERNEL(seq, (void *)table);
  }
  example_print("table", table, (size_t)n * n);
  free(table);
  free(seq);
  return 0;
}
