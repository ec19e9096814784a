/* What the programs of this folder share: random data, and RUN (see bench/literature.py).
 *
 *   PROGRAM SIZE [NAME]     SIZE 0 is small, 1 is what is measured. Prints a line of JSON for each stencil, with a hash of all its arrays.
 *
 * A stencil runs once, or as often as REPEATS in the environment says, each time from the same data. */
#ifndef LITERATURE_H
#define LITERATURE_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#define VOLATILE(name) decltype(&name) volatile
#else
#define VOLATILE(name) __typeof__(&name) volatile
#endif
#define KERNEL __attribute__((noinline))
/* Nothing of these functions is offloaded. */
#define HOST __attribute__((annotate("pollyrs: off")))

static int large, repeats;
static const char *only;
static unsigned long long state;

#define SIZE(big, small) (large ? (big) : (small))

struct array {
  char *now, *first;
  size_t bytes;
};
static struct array arrays[64];
static int count;

HOST __attribute__((unused)) static unsigned long long draw(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

HOST __attribute__((unused)) static void *memory(size_t bytes) {
  struct array *a = &arrays[count++];
  a->bytes = bytes;
  a->now = (char *)malloc(bytes);
  a->first = (char *)malloc(bytes);
  if (!a->now || !a->first || count == 64)
    exit(3);
  return a->now;
}

HOST __attribute__((unused)) static float *floats(size_t n, double low, double high) {
  float *p = (float *)memory(n * sizeof *p);
  for (size_t i = 0; i < n; i++)
    p[i] = (float)(low + (double)(draw() >> 11) * 0x1p-53 * (high - low));
  return p;
}

HOST __attribute__((unused)) static double *doubles(size_t n, double low, double high) {
  double *p = (double *)memory(n * sizeof *p);
  for (size_t i = 0; i < n; i++)
    p[i] = low + (double)(draw() >> 11) * 0x1p-53 * (high - low);
  return p;
}

HOST __attribute__((unused)) static int *ints(size_t n, int limit) {
  int *p = (int *)memory(n * sizeof *p);
  for (size_t i = 0; i < n; i++)
    p[i] = (int)((draw() >> 33) % (unsigned)limit);
  return p;
}

HOST __attribute__((unused)) static unsigned char *bytes(size_t n, int limit) {
  unsigned char *p = (unsigned char *)memory(n);
  for (size_t i = 0; i < n; i++)
    p[i] = (unsigned char)((draw() >> 33) % (unsigned)limit);
  return p;
}

HOST __attribute__((unused)) static unsigned long long hash(void) {
  unsigned long long h = 1469598103934665603ull;
  for (int k = 0; k < count; k++) {
    const char *p = arrays[k].now;
    size_t size = arrays[k].bytes;
    for (; size >= 8; p += 8, size -= 8) {
      unsigned long long word;
      memcpy(&word, p, 8);
      h = (h ^ word) * 1099511628211ull;
      h ^= h >> 29;
    }
    for (; size; size--)
      h = (h ^ (unsigned char)*p++) * 1099511628211ull;
  }
  return h;
}

HOST __attribute__((unused)) static void save(void) {
  for (int k = 0; k < count; k++)
    memcpy(arrays[k].first, arrays[k].now, arrays[k].bytes);
}

HOST __attribute__((unused)) static void restore(void) {
  for (int k = 0; k < count; k++)
    memcpy(arrays[k].now, arrays[k].first, arrays[k].bytes);
}

HOST __attribute__((unused)) static void drop(void) {
  while (count)
    --count, free(arrays[count].now), free(arrays[count].first);
}

/* A stencil: `points` updated in `steps` steps, with `moved` bytes a point and step where every array is read and written once; `data` are declarations of its arrays.
 * The call is through a pointer that nobody knows, as from another file. */
#define RUN(name, points, steps, moved, data, call)                                                                                  \
  if (!only || !strcmp(only, #name)) {                                                                                               \
    VOLATILE(name) ours = name;                                                                                                      \
    state = 88172645463325252ull;                                                                                                    \
    data;                                                                                                                            \
    save();                                                                                                                          \
    for (int repeat_ = 0; repeat_ < repeats; repeat_++) {                                                                                              \
      if (repeat_)                                                                                                                      \
        restore();                                                                                                                   \
      ours call;                                                                                                                     \
    }                                                                                                                                \
    printf("{\"stencil\": \"%s\", \"points\": %.17g, \"steps\": %d, \"bytes\": %d, \"hash\": \"%016llx\"}\n", #name, (double)(points), \
           (int)(steps), (int)(moved), hash());                                                                                      \
    fflush(stdout);                                                                                                                  \
    drop();                                                                                                                          \
  }

HOST __attribute__((unused)) static void begin(int argc, char **argv) {
  large = argc > 1 && atoi(argv[1]);
  only = argc > 2 ? argv[2] : 0;
  repeats = getenv("REPEATS") ? atoi(getenv("REPEATS")) : 1;
}
#endif
