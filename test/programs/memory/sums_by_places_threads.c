// Sums into elements that a list names, each thread's under a condition on who owns an entry: the entries that the loop leaves unread another thread of the program writes
// meanwhile, so that the library, which looks at all, sees others each time.
// ARGS: 333
// ARGS: 4000
// OFFLOAD: any
#include "example.h"
#include <pthread.h>
#include <stdatomic.h>

enum { PLACES = 8192, ENTRIES = 4096 };

static int list[ENTRIES], owner[ENTRIES];
static double value[ENTRIES], sums[PLACES];
static atomic_int done;

static void *others(void *unused) {
  unsigned s = 1;
  while (!done)
    for (int e = 0; e < ENTRIES; e++)
      if (owner[e] == 1) {
        s = s * 1664525u + 1013904223u;
        list[e] = (int)((s >> 8) % PLACES) - (s & 0x100000 ? 20000 : 0);
      }
  return unused;
}

__attribute__((noinline)) static void own(int n, const int *who, const int *at, const double *v, double *sum) {
  for (int e = 0; e < n; e++)
    if (who[e] == 0)
      sum[at[e]] += v[e];
}

int main(int argc, char **argv) {
  int n = example_arg(argc, argv, 1, 333);
  for (int e = 0; e < ENTRIES; e++) {
    owner[e] = e % 2;
    value[e] = e * 0.37;
    list[e] = e * 37 % PLACES;
  }
  pthread_t other;
  if (pthread_create(&other, 0, others, 0))
    return 1;
  for (int round = 0; round < 40; round++)
    own(n - round, owner, list, value, sums);
  done = 1;
  pthread_join(other, 0);
  for (int at = 0; at < PLACES; at += 7)
    printf("%.17g\n", sums[at]);
}
