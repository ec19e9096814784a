/* What the programs in C share: random data, and one line for each loop with a hash of what it wrote. The same numbers come in every run. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOP __attribute__((noinline))

static unsigned long long state = 88172645463325252ull;

static unsigned long long next(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

static double between(double low, double high) { return low + (double)(next() >> 11) * 0x1p-53 * (high - low); }

static float *floats(size_t n) {
  float *p = malloc((n + 1) * sizeof *p);
  for (size_t i = 0; i < n; i++)
    p[i] = (float)between(-1, 1);
  return p;
}

static double *doubles(size_t n) {
  double *p = malloc((n + 1) * sizeof *p);
  for (size_t i = 0; i < n; i++)
    p[i] = between(0.5, 1.5);
  return p;
}

/* Integers of [0, below). */
static int *integers(size_t n, int below) {
  int *p = malloc((n + 1) * sizeof *p);
  for (size_t i = 0; i < n; i++)
    p[i] = (int)(next() % (unsigned)below);
  return p;
}

static unsigned char *bytes(size_t n) {
  unsigned char *p = malloc(n + 1);
  for (size_t i = 0; i < n; i++)
    p[i] = (unsigned char)(next() >> 56);
  return p;
}

static unsigned long long hash(unsigned long long h, const void *data, size_t size) {
  for (const unsigned char *p = data; size > 0; p++, size--)
    h = (h ^ *p) * 1099511628211ull;
  return h;
}

/* The line of a loop: its name and the hash of `n` elements. */
#define SHOW(name, p, n) (printf("%s %016llx\n", #name, hash(1469598103934665603ull, p, (size_t)(n) * sizeof *(p))), fflush(stdout))
