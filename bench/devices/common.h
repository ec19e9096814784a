/* What the programs of this folder share: random data that no compiler knows, a checksum of all bits, and the clock of each call. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* What threads of the host do with a share of an array's elements. */
struct share {
  real *a;
  long first, last;
  uint32_t seed;
  uint64_t sum;
};

/* In order, so that it stays on the host. */
static void *fill(void *of) {
  struct share *s = of;
  uint32_t state = s->seed;
  for (long i = s->first; i < s->last; i++) {
    state = state * 1664525u + 1013904223u;
    s->a[i] = (real)(state >> 8) / (1 << 24) + (real)0.25;
  }
  return NULL;
}

static void *sum_of(void *of) {
  struct share *s = of;
  for (long i = s->first; i < s->last; i++) {
    uint64_t bits = 0;
    memcpy(&bits, &s->a[i], sizeof(real));
    s->sum = (s->sum ^ bits) * 0x100000001b3u;
  }
  return NULL;
}

/* The same shares on all machines, whatever threads they have. */
#define SHARES 32
static uint64_t sum;
static void in_shares(void *(*work)(void *), real *a, long n, uint32_t seed) {
  struct share shares[SHARES];
  pthread_t threads[SHARES];
  for (int k = 0; k < SHARES; k++) {
    shares[k] = (struct share){a, n / SHARES * k, k + 1 < SHARES ? n / SHARES * (k + 1) : n, seed * SHARES + k, 0};
    if (pthread_create(&threads[k], NULL, work, &shares[k])) {
      fprintf(stderr, "no thread\n");
      exit(2);
    }
  }
  for (int k = 0; k < SHARES; k++) {
    pthread_join(threads[k], NULL);
    sum = (sum ^ shares[k].sum) * 0x100000001b3u;
  }
}

static real *array(long n, uint32_t seed) {
  real *a = malloc(n * sizeof(real));
  if (!a) {
    fprintf(stderr, "no memory\n");
    exit(2);
  }
  in_shares(fill, a, n, seed);
  return a;
}

static void add(real *a, long n) { in_shares(sum_of, a, n, 0); }

static long argument(int argc, char **argv, int k, long otherwise) { return argc > k ? atol(argv[k]) : otherwise; }
/* How often a program calls its function: the first time as any program would, and then with all that had to be made once. */
static long calls(void) { return getenv("CALLS") ? atol(getenv("CALLS")) : 1; }
static double begun;
static void begin(void) { begun = seconds(); }
static void end(void) { printf("seconds %.4f\n", seconds() - begun); }
static void report(void) { printf("sum %016llx\n", (unsigned long long)sum); }
