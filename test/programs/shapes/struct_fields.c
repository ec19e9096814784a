// Arrays of structures whose members have different widths: each width is an array by itself. What one loop stores stays where the next finds it,
// and padding and members that no loop touches stay as they were.
// ARGS: 300
// ARGS: 0
// ARGS: 1
// ARGS: 65
// OFFLOAD: yes
#include "example.h"
#include <string.h>

typedef struct {
  double x[3], v[3];
  float charge;
  int kind;
  unsigned char fixed;
  short cell;
} particle;

__attribute__((noinline)) static void price(int n, const particle *p, double *out) {
  for (int i = 0; i < n; i++)
    out[i] = p[i].kind ? p[i].x[0] * p[i].charge : p[i].x[1] - p[i].charge;
}

__attribute__((noinline)) static void push(int n, particle *p, double dt) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++)
      if (!p[i].fixed) {
        p[i].v[k] += dt * p[i].charge;
        p[i].x[k] += dt * p[i].v[k];
      }
}

// Members of three widths are stored.
__attribute__((noinline)) static void mark(int n, particle *p) {
  for (int i = 0; i < n; i++) {
    p[i].kind += i & 3;
    p[i].cell = (short)(p[i].kind * 5);
    p[i].x[2] = p[i].x[2] * 0.5 + p[i].kind;
  }
}

__attribute__((noinline)) static void every_other(int n, particle *p) {
  for (int i = 0; i < n; i += 2) {
    p[i].charge = p[i].charge * 0.75f + (float)p[i].v[0];
    p[i].v[1] += 1.25;
  }
}

// A union: what one width stores is what the other reads, and the loop stays on the host.
typedef union {
  double d;
  uint32_t half[2];
} word;

__attribute__((noinline)) static void halves(int n, word *w) {
  for (int i = 0; i + 1 < n; i++) {
    w[i].d = w[i].d * 1.5;
    w[i].half[0] ^= w[i + 1].half[1];
  }
}

static void print(const char *name, const void *data, size_t bytes) {
  printf("%s %016llx\n", name, (unsigned long long)example_hash(data, bytes));
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 300);
  particle *p = malloc((size_t)(n + 1) * sizeof *p);
  double *out = calloc((size_t)n + 1, sizeof *out);
  word *w = malloc((size_t)(n + 1) * sizeof *w);
  if (!p || !out || !w)
    return 2;
  memset(p, 0x5a, (size_t)(n + 1) * sizeof *p);
  for (int i = 0; i <= n; i++) {
    for (int k = 0; k < 3; k++) {
      p[i].x[k] = example_uniform();
      p[i].v[k] = example_uniform();
    }
    p[i].charge = (float)example_uniform();
    p[i].kind = i % 3;
    p[i].fixed = i % 5 == 0;
    p[i].cell = (short)i;
    w[i].d = example_uniform();
  }
  for (int t = 0; t < 3; t++) {
    push(n, p, 0.125);
    mark(n, p);
    every_other(n, p);
    price(n, p, out);
  }
  halves(n, w);
  print("particles", p, (size_t)(n + 1) * sizeof *p);
  print("prices", out, (size_t)(n + 1) * sizeof *out);
  print("words", w, (size_t)(n + 1) * sizeof *w);
  return 0;
}
