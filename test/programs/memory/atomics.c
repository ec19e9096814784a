// Atomic operations in the loop.
// ARGS: 333
// ARGS: 0
// OFFLOAD: no
#include "example.h"


__attribute__((noinline)) static void kernel(int n, long *counters) {
  for (int i = 0; i < n; ++i)
    __atomic_fetch_add(&counters[i % 8], i, __ATOMIC_SEQ_CST);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333);
  long counters[8] = {0};
  kernel(n, counters);
  for (int i = 0; i < 8; ++i)
    printf("%ld ", counters[i]);
  printf("\n");
  return 0;
}
