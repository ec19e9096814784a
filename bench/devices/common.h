/* What the programs of this folder share: random data that no compiler knows, a checksum of all bits, and the clock. */
#include <math.h>
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

/* In order, so that it stays on the host. */
static void fill(real *a, long n, uint32_t seed) {
  for (long i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    a[i] = (real)(seed >> 8) / (1 << 24) + (real)0.25;
  }
}

static real *array(long n, uint32_t seed) {
  real *a = malloc(n * sizeof(real));
  if (!a) {
    fprintf(stderr, "no memory\n");
    exit(2);
  }
  fill(a, n, seed);
  return a;
}

static uint64_t sum;
static void add(const real *a, long n) {
  for (long i = 0; i < n; i++) {
    uint64_t bits = 0;
    memcpy(&bits, &a[i], sizeof(real));
    sum = (sum ^ bits) * 0x100000001b3u;
  }
}

static long argument(int argc, char **argv, int k, long otherwise) { return argc > k ? atol(argv[k]) : otherwise; }
static double begun;
static void begin(void) { begun = seconds(); }
static void end(void) { printf("seconds %.4f\n", seconds() - begun); }
static void report(void) { printf("sum %016llx\n", (unsigned long long)sum); }
