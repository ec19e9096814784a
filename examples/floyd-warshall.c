/* All shortest paths of a dense directed graph: the outer loop is sequential, the inner two are parallel only because row and
 * column k do not change in step k (which holds for the minimum's values, not for the accesses: an honest analysis sees the
 * dependences).
 * floyd-warshall [N [SEED]] */
#include "example.h"

__attribute__((noinline)) static void shortest_paths(int n, int path[n][n]) {
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 150);
  long seed = example_arg(argc, argv, 2, 1);
  size_t count = (size_t)n * n;
  int *path = malloc((count ? count : 1) * sizeof(int));
  if (!path)
    return 2;
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(seed);
    for (size_t i = 0; i < count; ++i)
      path[i] = (int)(example_bits() % 100000) + 1;
    if (n > 0)
      shortest_paths(n, (int(*)[n])path);
  }
  printf("path %016llx", (unsigned long long)example_hash(path, count * sizeof(int)));
  if (count)
    printf("  %d %d %d", path[0], path[count / 2], path[count - 1]);
  printf("\n");
  free(path);
  return 0;
}
