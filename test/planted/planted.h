// Random data, and a hash of all bits of the results.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *matrix(int n, uint64_t seed) {
  double *p = malloc(n * sizeof *p);
  for (volatile int i = 0; i < n; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    p[i] = (double)(seed >> 12) / (double)(1ull << 52) + 0.25;
  }
  return p;
}

static void show(const double *p, int n) {
  uint64_t hash = 14695981039346656037u;
  for (volatile int i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &p[i], sizeof bits);
    hash = (hash ^ bits) * 1099511628211u;
  }
  printf("%016llx\n", (unsigned long long)hash);
}
