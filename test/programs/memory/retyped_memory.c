// Memory that is used as int and then as float, as a pool's is: a store gives memory the type of what it stores. Arrays of different types overlap
// like others; what was stored last counts.
// ARGS: 1500
// ARGS: 0
// ARGS: 70
// OFFLOAD: partial
// FALLBACK: overlap
#include "example.h"
#include <string.h>

// The second loop begins `k` elements behind the first one's array.
__attribute__((noinline)) static void two_types(int *a, float *b, int k, int n) {
  for (int i = 0; i < n; i++)
    a[i] = i;
  for (int i = 0; i < n; i++)
    b[i + k] = i * 0.5f;
}

__attribute__((noinline)) static void reads_before(const short *a, float *b, int *sum, int n) {
  for (int i = 0; i < n; i++)
    sum[i] = a[i] * 3;
  for (int i = 0; i < n; i++)
    b[i] = i - 0.5f;
}

static char *pool;
static size_t used;

__attribute__((noinline)) static void *get(size_t bytes) {
  void *p = pool + used;
  used += (bytes + 15) & ~(size_t)15;
  return p;
}

static int first[4000];
static float second[4000];

// Twice the same memory, in one function.
__attribute__((noinline)) static double from_pool(int n) {
  used = 0;
  int *a = get(n * sizeof *a);
  for (int i = 0; i < n; i++)
    a[i] = i * 3;
  for (int i = 0; i < n; i++)
    first[i] = a[n - 1 - i] + 1;
  used = 0;
  float *b = get(n * sizeof *b);
  for (int i = 0; i < n; i++)
    b[i] = i * 0.5f;
  for (int i = 0; i < n; i++)
    second[i] = b[n - 1 - i] + 1;
  return n > 7 ? b[7] : 0;
}

static void print_bytes(const char *name, const void *memory, size_t bytes) {
  unsigned long hash = 5381;
  for (size_t i = 0; i < bytes; i++)
    hash = hash * 33 + ((const unsigned char *)memory)[i];
  printf("%s %lx\n", name, hash);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1500);
  size_t bytes = (size_t)n * 24 + 4096;
  void *memory = calloc(bytes, 1);
  int *sum = calloc((size_t)n + 1, sizeof *sum);
  pool = calloc(1, 1 << 20);
  for (int k = 0; k < n + 2; k += n / 3 + 1) {
    two_types(memory, memory, k, n);
    print_bytes("two types", memory, bytes);
  }
  memset(memory, 1, bytes);
  reads_before(memory, memory, sum, n);
  print_bytes("read before", memory, bytes);
  print_bytes("sum", sum, n * sizeof *sum);
  printf("%a\n", from_pool(n));
  print_bytes("first", first, sizeof first);
  print_bytes("second", second, sizeof second);
  print_bytes("pool", pool, 1 << 16);
  return 0;
}
