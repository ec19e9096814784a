// Numbers in floating point that come from integers, stored to members of packed structures, whose addresses are odd or even only; and such that come from others.
// ARGS: 300
// ARGS: 1
// OFFLOAD: yes
// KERNELS: odd even chosen
#include "example.h"

typedef struct { char tag; float f; short s; double d; int i; float g; unsigned char u; double e; } __attribute__((packed)) odd_t;
typedef struct { short s; float f; unsigned u; double d; long long l; float g; double e; } __attribute__((packed, aligned(2))) even_t;

#define KERNEL __attribute__((noinline)) static

KERNEL void odd(int n, odd_t *a, const int *x) {
  for (int i = 0; i < n; ++i) {
    a[i].f = (float)(a[n - 1 - i].s & 1023);
    a[i].d = (double)(x[i] & 65535);
    a[i].g = (float)x[i] * 0.5f;
    a[i].e = (double)(unsigned char)x[i];
  }
}

KERNEL void even(int n, even_t *a, const int *x) {
  for (int i = 0; i < n; ++i) {
    a[i].f = (float)(short)x[i];
    a[i].d = (double)((unsigned)x[i] >> 3);
    a[i].g = (float)((long long)x[i] * 77);
    a[i].e = (double)x[i] / 3;
  }
}

/* The lowest byte of a number was that of the integer it comes from (codegen-ptx/src/ops/packed.rs). */
KERNEL void chosen(int n, odd_t *a) {
  for (int i = 0; i < n; ++i)
    if (a[i + 2].f > 13)
      a[i].f = (float)(a[n - i].s & 1023);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 300);
  odd_t *a = calloc((size_t)n + 2, sizeof *a);
  even_t *b = calloc((size_t)n, sizeof *b);
  int *x = malloc((size_t)n * sizeof *x);
  for (int i = 0; i < n; ++i) {
    x[i] = (int)(example_uniform() * 2e9);
    a[i].s = (short)(x[i] >> 5);
    a[i].tag = (char)i;
  }
  odd(n, a, x);
  even(n, b, x);
  chosen(n, a);
  printf("%016llx %016llx\n", (unsigned long long)example_hash(a, (size_t)n * sizeof *a), (unsigned long long)example_hash(b, (size_t)n * sizeof *b));
  return 0;
}
