#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One block of memory for all arrays of a call; each has a guard zone on either side.
#define HARNESS __attribute__((optnone, noinline))
// The space before the first one keeps addresses of elements [0, .., 0] that are never accessed inside of the
// block.
enum { GUARD = 192, MAX_REGIONS = 8, BEFORE = 1 << 19 };
static unsigned char *arena;
static uint64_t used, capacity = 1 << 24, state;
static struct { int elem; uint64_t start, count; } regions[MAX_REGIONS];
static int n_regions;

HARNESS static uint64_t next_random(void) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

HARNESS int wanted(int argc, char **argv, int program, int set) {
  return (argc < 2 || atoi(argv[1]) == program) && (argc < 3 || atoi(argv[2]) == set);
}

HARNESS void start(uint64_t seed) {
  if (!arena)
    arena = aligned_alloc(256, capacity);
  used = BEFORE;
  n_regions = 0;
  state = seed;
}

HARNESS static uint64_t element_bytes(int elem) {
  static const unsigned char bytes[] = {4, 8, 1, 1, 2, 2, 4, 4, 8, 8};
  return bytes[elem];
}

HARNESS static void guard(void) {
  for (int i = 0; i < GUARD; ++i)
    arena[used++] = (unsigned char)next_random();
}

HARNESS void *region(int elem, uint64_t count) {
  uint64_t bytes = element_bytes(elem);
  if (used + count * bytes + 3 * GUARD > capacity || n_regions == MAX_REGIONS)
    abort();
  guard();
  used = (used + 7) / 8 * 8;
  regions[n_regions].elem = elem;
  regions[n_regions].start = used;
  regions[n_regions++].count = count;
  void *result = arena + used;
  for (uint64_t i = 0; i < count; ++i, used += bytes) {
    uint64_t bits = next_random();
    double value = ((double)(bits >> 11) * 0x1p-52) - 1.0;
    float narrow = (float)value;
    memcpy(arena + used, elem == 0 ? (void *)&narrow : elem == 1 ? (void *)&value : (void *)&bits, bytes);
  }
  guard();
  return result;
}

// NaNs have no defined sign or payload, so all count as one.
HARNESS static void unify_nans(void) {
  for (int r = 0; r < n_regions; ++r)
    for (uint64_t i = 0; i < regions[r].count; ++i) {
      unsigned char *at = arena + regions[r].start + i * element_bytes(regions[r].elem);
      float f;
      double d;
      if (regions[r].elem == 0 && (memcpy(&f, at, 4), f != f))
        memset(at, 0xff, 4);
      if (regions[r].elem == 1 && (memcpy(&d, at, 8), d != d))
        memset(at, 0xff, 8);
    }
}

HARNESS void finish(int program, int set, double result) {
  unify_nans();
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint64_t i = BEFORE; i < used; ++i)
    hash = (hash ^ arena[i]) * 0x100000001b3u;
  printf("p%d %d %016llx %a\n", program, set, (unsigned long long)hash, result != result ? NAN : result);
  if (getenv("FUZZ_DUMP"))
    for (int r = 0; r < n_regions; ++r)
      for (uint64_t i = 0; i < regions[r].count; ++i) {
        const unsigned char *at = arena + regions[r].start + i * element_bytes(regions[r].elem);
        printf("  region %d [%llu] = ", r, (unsigned long long)i);
        for (uint64_t b = element_bytes(regions[r].elem); b-- > 0;)
          printf("%02x", at[b]);
        printf("\n");
      }
  fflush(stdout);
}
