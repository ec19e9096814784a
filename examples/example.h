/* What the examples share: arguments, deterministic random data, and a checksum in which every bit of a result counts.
 *
 * EXAMPLE_VALUES in the environment prints all values instead of the checksum, for comparisons with a tolerance.
 *
 * TYPE is the element type: -DTYPE=float for single precision. Nothing here is a loop the compiler could offload: the steps of
 * the generator and of the checksum are calls that stay calls. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TYPE
#define TYPE double
#endif

#define EXAMPLE_UNUSED __attribute__((unused))

static uint64_t example_state = 1;

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014, fig. 13). */
EXAMPLE_UNUSED __attribute__((noinline)) static uint64_t example_bits(void) {
  uint64_t z = (example_state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Uniform in [-1, 1), a multiple of 2^-52. */
EXAMPLE_UNUSED static double example_uniform(void) { return (double)(int64_t)example_bits() * 0x1p-63; }

EXAMPLE_UNUSED static void example_seed(long seed) { example_state = (uint64_t)seed * 0x9e3779b97f4a7c15u + 1; }

/* Room for `count` elements; never NULL, also for 0. */
EXAMPLE_UNUSED static TYPE *example_array(size_t count) {
  TYPE *a = (TYPE *)malloc((count ? count : 1) * sizeof(TYPE));
  if (!a) {
    fprintf(stderr, "out of memory\n");
    exit(2);
  }
  return a;
}

EXAMPLE_UNUSED static void example_fill(TYPE *a, size_t count) {
  for (size_t i = 0; i < count; ++i)
    a[i] = (TYPE)example_uniform();
}

/* A step of FNV-1a, 32 bits at a time. */
EXAMPLE_UNUSED __attribute__((noinline)) static uint64_t example_mix(uint64_t hash, uint32_t word) {
  return (hash ^ word) * 0x100000001b3u;
}

EXAMPLE_UNUSED static uint64_t example_hash(const void *data, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  const unsigned char *at = (const unsigned char *)data;
  for (; bytes >= 4; bytes -= 4, at += 4) {
    uint32_t word;
    memcpy(&word, at, 4);
    hash = example_mix(hash, word);
  }
  for (; bytes; --bytes, ++at)
    hash = example_mix(hash, *at);
  return hash;
}

/* One line: a checksum of all bits, and the first, middle and last value. */
EXAMPLE_UNUSED static void example_print(const char *name, const TYPE *a, size_t count) {
  if (getenv("EXAMPLE_VALUES")) {
    printf("%s", name);
    for (size_t i = 0; i < count; ++i)
      printf(" %.17g", (double)a[i]);
    printf("\n");
    return;
  }
  printf("%s %016llx", name, (unsigned long long)example_hash(a, count * sizeof(TYPE)));
  if (count)
    printf("  %.9g %.9g %.9g", (double)a[0], (double)a[count / 2], (double)a[count - 1]);
  printf("\n");
}

/* The n-th argument as a number, or a default. */
EXAMPLE_UNUSED static long example_arg(int argc, char **argv, int n, long otherwise) {
  if (n >= argc)
    return otherwise;
  char *end;
  long value = strtol(argv[n], &end, 10);
  if (*end || value < 0) {
    fprintf(stderr, "argument %d, '%s', is not a size\n", n, argv[n]);
    exit(2);
  }
  return value;
}

/* How many times to run everything: EXAMPLE_REPEAT, for timing. */
EXAMPLE_UNUSED static long example_repeat(void) {
  const char *text = getenv("EXAMPLE_REPEAT");
  long n = text ? atol(text) : 1;
  return n > 0 ? n : 1;
}

#endif
