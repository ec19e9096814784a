/* What programs of many loops share: random data between LOW and HIGH, which a program defines first, and RUN. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL __attribute__((noinline)) static

static unsigned long long state = 88172645463325252ull;

static unsigned long long next(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

static double uniform(void) { return LOW + (double)(next() >> 11) * 0x1p-53 * (HIGH - LOW); }

static float *floats(size_t n) {
  float *p = malloc(n * sizeof *p);
  for (size_t i = 0; i < n; i++)
    p[i] = (float)uniform();
  return p;
}

static double *doubles(size_t n) {
  double *p = malloc(n * sizeof *p);
  for (size_t i = 0; i < n; i++)
    p[i] = uniform();
  return p;
}

static void print(const char *name, const void *data, size_t size) {
  unsigned long long h = 1469598103934665603ull;
  for (const unsigned char *p = data; size >= 4; p += 4, size -= 4) {
    unsigned word;
    memcpy(&word, p, 4);
    h = (h ^ word) * 1099511628211ull;
  }
  printf("%s %016llx\n", name, h);
  fflush(stdout);
}

/* Four times, or not at all if the program's second argument names another one; `make` before the first. */
#define RUN(name, make, call, out, size)                                                                                         \
  if (argc < 3 || !strcmp(argv[2], #name)) {                                                                                     \
    make;                                                                                                                        \
    for (int r = 0; r < 4; r++)                                                                                                  \
      name call;                                                                                                                 \
    print(#name, out, size);                                                                                                     \
  }
