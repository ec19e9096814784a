// Numbers in floating point that come from integers, stored to members of packed structures, whose addresses are odd or even only; and such that come from others.
// ARGS: 300
// ARGS: 1
// OFFLOAD: yes
// KERNELS: odd even chosen
#include "example.h"

typedef struct { short s; unsigned char u; signed char t; float f; double d; } __attribute__((packed)) odd_t;
typedef struct { int i; float f; double d; long long l; } __attribute__((packed, aligned(2))) even_t;

#define KERNEL __attribute__((noinline)) static

KERNEL void odd(int n, odd_t *a, const int *x) {
  for (int i = 0; i < n; ++i) {
    a[i].f = (float)a[i].s;
    a[i].d = (double)(x[i] & 65535);
  }
}

KERNEL void even(int n, even_t *a, const int *x) {
  for (int i = 0; i < n; ++i) {
    a[i].f = (float)((unsigned)x[i] >> 3);
    a[i].d = (double)(x[i] & 4095);
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
    a[i].u = (unsigned char)i;
  }
  odd(n, a, x);
  even(n, b, x);
  chosen(n, a);
  printf("%016llx %016llx\n", (unsigned long long)example_hash(a, (size_t)n * sizeof *a), (unsigned long long)example_hash(b, (size_t)n * sizeof *b));
  return 0;
}
