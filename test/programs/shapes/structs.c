// An array of structures of mixed fields, and an array inside a structure.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
#include "example.h"


struct particle {
  double x, y;
  float weight;
  int8_t kind;
  int count;
};

struct grid {
  int n, m;
  double *cells;
  double border[8];
};

__attribute__((noinline)) static void move(int n, struct particle *p, double dt) {
  for (int i = 0; i < n; ++i) {
    p[i].x += dt * p[i].y;
    p[i].y -= dt * p[i].x;
    p[i].count += p[i].kind;
  }
}

__attribute__((noinline)) static void smooth(struct grid *g) {
  for (int i = 0; i < g->n; ++i)
    for (int j = 1; j < g->m; ++j)
      g->cells[i * g->m + j] += g->cells[i * g->m + j - 1] * 0.25 + g->border[i % 8];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  struct particle *p = calloc((size_t)n + 1, sizeof *p);
  struct grid g = {.n = n, .m = m, .cells = example_array((size_t)n * m)};
  if (!p)
    return 2;
  for (int i = 0; i < n; ++i) {
    p[i].x = example_uniform();
    p[i].y = example_uniform();
    p[i].kind = (int8_t)example_bits();
    p[i].weight = 0.5f;
  }
  example_fill(g.cells, (size_t)n * m);
  example_fill(g.border, 8);
  move(n, p, 0.125);
  smooth(&g);
  printf("%016llx\n", (unsigned long long)example_hash(p, sizeof *p * (size_t)n));
  example_print("cells", g.cells, (size_t)n * m);
  return 0;
}
