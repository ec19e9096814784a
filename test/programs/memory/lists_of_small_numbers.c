// Lists of 16 bits name elements of arrays that have fewer than 65536: what they hold is looked for, with and without a sign, also behind sums and in tables; and lists that hang on
// a structure, whose pointers are loaded in each of two loops of a step.
// ARGS: 5000 300
// ARGS: 0 1
// ARGS: 1 1
// ARGS: 700 65535
// OFFLOAD: yes
// KERNELS: counted natural table shifted
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void counted(int n, unsigned *restrict f, const unsigned short *restrict b, const unsigned *restrict v) {
  for (int i = 0; i < n; i++)
    f[b[i]] += v[i];
}

KERNEL void natural(int n, unsigned *restrict f, const short *restrict b, const unsigned *restrict v) {
  for (int i = 0; i < n; i++)
    f[b[i]] += v[i];
}

KERNEL void table(int n, unsigned *restrict to, const unsigned short *restrict b, const unsigned *restrict f) {
  for (int i = 0; i < n; i++)
    to[i] = 3 * f[b[i]];
}

KERNEL void shifted(int n, unsigned *restrict f, const unsigned short *restrict b, const unsigned *restrict v) {
  for (int i = 0; i < n; i++)
    f[b[i] + 1] ^= v[i];
}

struct held {
  int n, m, steps;
  unsigned factor;
  int *list;
  unsigned *sums, *values;
};

KERNEL void steps(struct held *s) {
  for (int t = 0; t < s->steps; t++) {
    for (int i = 0; i < s->n; i++)
      s->sums[s->list[i]] += s->values[i];
    for (int i = 0; i < s->m; i++)
      s->sums[i] *= s->factor;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 5000), m = (int)example_arg(argc, argv, 2, 300);
  // In one piece, so that what lies beside the sums is another array.
  unsigned *sums = calloc((size_t)m + 1 + 2 * (size_t)n, sizeof *sums), *values = sums + m + 1, *results = values + n;
  unsigned short *b = malloc(((size_t)n + 1) * sizeof *b);
  short *c = malloc(((size_t)n + 1) * sizeof *c);
  int *list = malloc(((size_t)n + 1) * sizeof *list);
  if (!sums || !b || !c || !list)
    return 1;
  for (int i = 0; i < n; i++) {
    list[i] = (int)(example_bits() % (unsigned)m);
    b[i] = (unsigned short)list[i];
    c[i] = (short)(list[i] % 32768);
    values[i] = (unsigned)example_bits();
  }
  for (int t = 0; t < 2; t++) {
    counted(n, sums, b, values);
    natural(n, sums, c, values);
    table(n, results, b, sums);
    shifted(n, sums, b, values);
  }
  struct held s = {n, m, 3, 3, list, sums, values};
  steps(&s);
  printf("sums %016llx\n", (unsigned long long)example_hash(sums, ((size_t)m + 1) * sizeof *sums));
  printf("results %016llx\n", (unsigned long long)example_hash(results, (size_t)n * sizeof *results));
  free(sums);
  free(b);
  free(c);
  free(list);
  return 0;
}
