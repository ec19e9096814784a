/* What the programs of this folder share: random data, and RUN, which runs a kernel REPEATS times and its peer once (see bench/everyday2.py).
 *
 *   PROGRAM SIZE [NAME]     SIZE 0 is small, 1 is what is measured. Prints a line of JSON for each kernel, with a hash of what it computed.
 *
 * With PEERS=LIBRARY each kernel's function is looked for there under the name peer_NAME: it has the same parameters, computes the same by hand-written CUDA from the
 * same memory, and leaves its times in peer_kernel_ms and peer_call_ms. peer_more, if there is one, says what else was measured, as members of the line. */
#ifndef EVERYDAY2_H
#define EVERYDAY2_H
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KERNEL __attribute__((noinline)) void
/* Nothing of these functions is offloaded. */
#define HOST __attribute__((annotate("pollyrs: off")))
#define REPEATS 6

static int large;
static const char *only;
static void *peers;

#define SIZE(big, small) (large ? (big) : (small))

static unsigned long long state = 88172645463325252ull;

static unsigned long long next(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

/* What was allocated for the kernel at hand. */
static void *allocated[32];
static int allocations;

static void *memory(size_t bytes) {
  void *p = malloc(bytes);
  if (!p || allocations == 32)
    exit(3);
  return allocated[allocations++] = p;
}

static void drop(void) {
  while (allocations)
    free(allocated[--allocations]);
}

HOST static float *floats(long n, double low, double high) {
  float *p = memory(n * sizeof *p);
  for (long i = 0; i < n; i++)
    p[i] = (float)(low + (double)(next() >> 11) * 0x1p-53 * (high - low));
  return p;
}

HOST static double *doubles(long n, double low, double high) {
  double *p = memory(n * sizeof *p);
  for (long i = 0; i < n; i++)
    p[i] = low + (double)(next() >> 11) * 0x1p-53 * (high - low);
  return p;
}

HOST static int *ints(long n, int limit) {
  int *p = memory(n * sizeof *p);
  for (long i = 0; i < n; i++)
    p[i] = (int)((next() >> 33) % (unsigned)limit);
  return p;
}

HOST static unsigned char *bytes(long n, int limit) {
  unsigned char *p = memory(n);
  for (long i = 0; i < n; i++)
    p[i] = (unsigned char)((next() >> 33) % (unsigned)limit);
  return p;
}

enum kind { FLOAT, DOUBLE, INT, BYTE };
#define KIND(p) _Generic((p), float *: FLOAT, double *: DOUBLE, int *: INT, unsigned char *: BYTE)

static double element(enum kind kind, const void *data, long i) {
  return kind == FLOAT ? ((const float *)data)[i] : kind == DOUBLE ? ((const double *)data)[i] : kind == INT ? ((const int *)data)[i] : ((const unsigned char *)data)[i];
}

HOST static unsigned long long hash(const void *data, size_t size) {
  unsigned long long h = 1469598103934665603ull;
  const unsigned char *p = data;
  for (; size >= 4; p += 4, size -= 4) {
    unsigned word;
    memcpy(&word, p, 4);
    h = (h ^ word) * 1099511628211ull;
  }
  for (; size; size--)
    h = (h ^ *p++) * 1099511628211ull;
  return h;
}

static int wanted(const char *name) { return !only || !strcmp(only, name); }

/* The largest difference of both outputs, of the largest value of one, and the share of elements that differ by more than a thousandth of that. */
HOST static void compare(enum kind kind, const void *ours, const void *theirs, long n) {
  double worst = 0, largest = 0;
  long apart = 0;
  for (long i = 0; i < n; i++)
    largest = fmax(largest, fabs(element(kind, theirs, i)));
  for (long i = 0; i < n; i++) {
    double d = fabs(element(kind, ours, i) - element(kind, theirs, i));
    if (!(d <= worst))
      worst = d;
    apart += !(d <= 1e-3 * largest);
  }
  printf(", \"difference\": %.3g, \"apart\": %.3g", largest > 0 ? worst / largest : worst, (double)apart / n);
}

HOST static void *copied(const void *data, size_t size) { return memcpy(memory(size), data, size); }

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static int by_value(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

/* The median of the calls but the first. */
static double median_ms(double *ms) {
  qsort(ms + 1, REPEATS - 1, sizeof *ms, by_value);
  return ms[1 + (REPEATS - 1) / 2];
}

/* Runs `name args`, which writes `count` elements of `out` (and may read them: they have their first values each time). The call is through a pointer that nobody
 * knows, as from another file: arrays don't stay on the device between calls. */
#define RUN(name, out, count, args)                                                                                                        \
  do {                                                                                                                                     \
    size_t size_ = (size_t)(count) * sizeof *(out);                                                                                        \
    void *first_ = copied(out, size_);                                                                                                     \
    double ms_[REPEATS];                                                                                                                   \
    __typeof__(name) *volatile ours_ = name;                                                                                               \
    for (int r_ = 0; r_ < REPEATS; r_++) {                                                                                                 \
      memcpy(out, first_, size_);                                                                                                          \
      ms_[r_] = now_ms();                                                                                                                  \
      ours_ args;                                                                                                                          \
      ms_[r_] = now_ms() - ms_[r_];                                                                                                        \
    }                                                                                                                                      \
    printf("{\"kernel\": \"%s\", \"hash\": \"%016llx\", \"call ms\": %.5f", #name, hash(out, size_), median_ms(ms_));                      \
    __typeof__(name) *peer_ = peers ? (__typeof__(name) *)dlsym(peers, "peer_" #name) : 0;                                                 \
    if (peer_) {                                                                                                                           \
      void *result_ = copied(out, size_);                                                                                                  \
      memcpy(out, first_, size_);                                                                                                          \
      peer_ args;                                                                                                                          \
      compare(KIND(out), result_, out, count);                                                                                             \
      printf(", \"peer kernel ms\": %.5f, \"peer call ms\": %.5f", *(double *)dlsym(peers, "peer_kernel_ms"),                              \
             *(double *)dlsym(peers, "peer_call_ms"));                                                                                     \
      const char *(*more_)(void) = (const char *(*)(void))dlsym(peers, "peer_more");                                                       \
      if (more_)                                                                                                                           \
        printf("%s", more_());                                                                                                             \
    }                                                                                                                                      \
    printf("}\n");                                                                                                                         \
    fflush(stdout);                                                                                                                        \
    drop();                                                                                                                                \
  } while (0)

/* A block that prepares a kernel's data and runs it. */
#define CASE(name) if (wanted(#name))

static void begin(int argc, char **argv) {
  large = argc > 1 && atoi(argv[1]);
  only = argc > 2 ? argv[2] : 0;
  if (getenv("PEERS") && !(peers = dlopen(getenv("PEERS"), RTLD_NOW))) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
}
#endif
