// Stores under a condition on data: rows where it never holds are read-only memory, then memory of another thread.
// ARGS: 33 512
// ARGS: 2 1024
// ARGS: 65 600
// OFFLOAD: yes
#include "example.h"
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) static void kernel(int n, int m, const double A[restrict n][m], double B[restrict n][m],
                                             double C[restrict n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      if (A[i][j] > 0.25)
        B[i][j] = A[i][j] * 2.0;
      C[i][j] += B[i][j] > 3.0 ? 1.0 : 0.5;
    }
}

struct owner {
  volatile double *B;
  size_t count;
  volatile int *running;
};

/* Writes each of its elements once, most of them while the kernel runs; nothing that the kernel computes depends on them. */
static void *own(void *data) {
  struct owner *o = data;
  for (size_t i = 0; i < o->count; ++i) {
    if (*o->running)
      usleep(1);
    o->B[i] = 1.0 + (double)i / (double)o->count;
  }
  return NULL;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 512);
  size_t page = (size_t)sysconf(_SC_PAGESIZE), row = (size_t)m * sizeof(double), count = (size_t)n * m;
  size_t bytes = (count * sizeof(double) + page - 1) / page * page;
  double *A = example_array(count), *C = example_array(count);
  double *B = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (B == MAP_FAILED)
    return 2;
  example_fill(A, count);
  example_fill(B, count);
  example_fill(C, count);
  /* The middle row's whole pages. */
  size_t first = ((size_t)(n / 2) * row + page - 1) / page * page, last = (size_t)(n / 2 + 1) * row / page * page;
  if (last < first)
    last = first;
  for (size_t i = first / 8; i < last / 8; ++i)
    A[i] = -1.0;
  if (last > first && mprotect((char *)B + first, last - first, PROT_READ))
    return 2;
  kernel(n, m, (const double(*)[m])A, (double(*)[m])B, (double(*)[m])C);
  example_print("B", B, count);
  example_print("C", C, count);
  if (last > first && mprotect((char *)B + first, last - first, PROT_READ | PROT_WRITE))
    return 2;

  volatile int running = 1;
  struct owner owner = {B + first / 8, (last - first) / 8, &running};
  pthread_t thread;
  if (pthread_create(&thread, NULL, own, &owner))
    return 2;
  for (int r = 0; r < 4; ++r)
    kernel(n, m, (const double(*)[m])A, (double(*)[m])B, (double(*)[m])C);
  running = 0;
  pthread_join(thread, NULL);
  example_print("B", B, count);
  example_print("C", C, count);
  return 0;
}
