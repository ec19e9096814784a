// Arrays that end where mapped memory ends, and begin where it begins; one of them is read-only.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
// KERNELS: kernel
#include "example.h"
#include <sys/mman.h>
#include <unistd.h>

/* `bytes` bytes between two pages that must not be touched, at the end or at the beginning of the mapping. */
static void *guarded(size_t bytes, int at_end) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), body = (bytes + page - 1) / page * page;
  char *map = mmap(NULL, body + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED || (body && mprotect(map + page, body, PROT_READ | PROT_WRITE)))
    exit(2);
  return at_end ? map + page + body - bytes : map + page;
}

__attribute__((noinline)) static void kernel(int n, int m, double *restrict A, const double *restrict B) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      A[i * m + j] = A[i * m + j] * 0.5 + B[i * m + j];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m, page = (size_t)sysconf(_SC_PAGESIZE);
  for (int at_end = 0; at_end < 2; ++at_end) {
    double *A = guarded(count * 8, at_end), *B = guarded(count * 8, 1 - at_end);
    example_fill(A, count);
    example_fill(B, count);
    size_t body = (count * 8 + page - 1) / page * page;
    char *start = (char *)((uintptr_t)B / page * page);
    if (body && mprotect(start, body, PROT_READ))
      return 2;
    kernel(n, m, A, B);
    example_print("A", A, count);
  }
  return 0;
}
