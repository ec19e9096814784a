/* All shortest paths of a graph (Floyd, Warshall), in integers.
 * floyd-warshall [N [SEED]] */
#undef TYPE
#define TYPE int
#define SIZES(X) X(1, n, 50)
#include "algorithm.h"

#define path(i, j) AT2(path, n, i, j)

KERNEL(MATRIX(path, n, n)) {
  for (INDEX k = 0; k < n; ++k)
    for (INDEX i = 0; i < n; ++i)
      for (INDEX j = 0; j < n; ++j)
        path(i, j) = path(i, j) < path(i, k) + path(k, j) ? path(i, j) : path(i, k) + path(k, j);
}

int main(int argc, char **argv) {
  READ_SIZES;
  int *path = example_array((size_t)n * n);
  REPEAT {
    /* Two of three edges are missing. */
    for (size_t i = 0; i < (size_t)n * n; ++i)
      path[i] = random_between(0, 3) ? 1000000 : random_between(1, 1000);
    CALL_KERNEL((void *)path);
  }
  example_print("path", path, (size_t)n * n);
  free(path);
  return 0;
}
