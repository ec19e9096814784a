// What a branch on data keeps the loop from touching may not be there: pages without access on both sides, and in the middle.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// ARGS: 257 64
// OFFLOAD: partial
// KERNELS: main
#include "example.h"
#include <sys/mman.h>
#include <unistd.h>

/* Whole pages for `bytes` bytes, the first or last of them without access; the array begins or ends there. */
static char *partly(size_t bytes, int hole_at_end) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), body = (bytes + page - 1) / page * page;
  char *map = mmap(NULL, body + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED || mprotect(map, page, PROT_NONE) || mprotect(map + page + body, page, PROT_NONE))
    exit(2);
  return hole_at_end ? map + page + body - bytes : map + page;
}

/* B is read and C written where A says so; there may be less of both than of A. */
__attribute__((noinline)) static void masked(int n, const double *restrict A, const double *restrict B,
                                             double *restrict C) {
  for (int i = 0; i < n; ++i)
    if (A[i] > 0)
      C[i] = B[i] * A[i] + 1;
}

/* One end of a row is not read at the first or last element. */
__attribute__((noinline)) static void neighbours(int n, const double *restrict A, const int *restrict side,
                                                 double *restrict C) {
  for (int i = 0; i < n; ++i)
    if (side[i] < 0)
      C[i] = A[i - 1];
    else if (side[i] > 0)
      C[i] = A[i + 1];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33) * (int)example_arg(argc, argv, 2, 17);
  double *A = example_array(n);
  for (int part = 0; part < 3; ++part) {
    /* All of B and C, the front half, the back half. */
    int first = part == 2 ? n / 2 : 0, count = part == 0 ? n : n / 2;
    double *B = (double *)partly((size_t)count * 8, part < 2), *C = (double *)partly((size_t)count * 8, part < 2);
    example_fill(A, n);
    example_fill(B, count);
    example_fill(C, count);
    for (int i = 0; i < n; ++i)
      if (i < first || i >= first + count)
        A[i] = -1;
    masked(n, A, B - first, C - first);
    example_print("masked", C, count);
    int *side = calloc(n + 1, sizeof(int));
    for (int i = 0; i < n; ++i)
      if (i >= first && i < first + count)
        side[i] = i == first ? count > 1 : i == first + count - 1 ? -1 : (int)(example_bits() % 3) - 1;
    neighbours(n, B - first, side, C - first);
    example_print("neighbours", C, count);
  }
  return 0;
}
