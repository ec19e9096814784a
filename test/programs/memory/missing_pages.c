// A store and a load under a condition on data, into arrays of which only the elements that the condition selects exist: the others
// lie in pages that are not there, in which case the original loop runs, or are another array's.
// ARGS: 33 512 0
// ARGS: 33 512 1
// ARGS: 9 100 0
// ARGS: 65 600 1
// OFFLOAD: partial
#include "example.h"
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) static void kernel(int n, int m, const double *restrict mask, double *restrict to,
                                             const double *restrict from) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      if (mask[i * m + j] > 0.0)
        to[i * m + j] = mask[i * m + j] + from[i * m + j];
}

static double *map(size_t bytes) {
  double *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    exit(2);
  return p;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 512);
  size_t page = (size_t)sysconf(_SC_PAGESIZE), count = (size_t)n * m;
  size_t bytes = (count * sizeof(double) + page - 1) / page * page;
  double *mask = example_array(count), *to = map(bytes), *from = map(bytes);
  example_fill(mask, count);
  example_fill(to, count);
  example_fill(from, count);
  /* The first page is not selected. */
  size_t hole = page / sizeof(double) < count ? page / sizeof(double) : count;
  for (size_t i = 0; i < hole; ++i)
    mask[i] = -1.0;
  if (example_arg(argc, argv, 3, 0) && (munmap(to, page) || mprotect(from, page, PROT_NONE)))
    return 2;
  kernel(n, m, mask, to, from);
  example_print("to", to + hole, count - hole);
  return 0;
}
