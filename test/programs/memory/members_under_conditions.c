// A pointer of a structure that is loaded only where data says so is known before the loop, if its page can be read.
// ARGS: 3 3
// ARGS: 4 40
// ARGS: 70 33
// OFFLOAD: yes
#define _DEFAULT_SOURCE
#include "example.h"
#include <sys/mman.h>

struct grid { unsigned width, height; double *cells; };
struct kinds { int *of; unsigned width, height; };

static double *cell(const struct grid *g, int x, int y) { return &g->cells[(x * g->height + y) * 9]; }

__attribute__((noinline)) static void borders(const struct grid *g, const struct kinds *k) {
  for (size_t x = 1; x < g->width - 1; x++)
    for (size_t y = 1; y < g->height - 1; y++)
      switch (k->of[x * k->height + y]) {
      case 1: {
        double *c = cell(g, x, y), v = c[0] + c[2] - 1;
        c[3] = c[1] - v;
        c[6] = c[8] + v * 0.5;
        break;
      }
      case 2:
        cell(g, x, y)[4] = 0;
        break;
      }
}

__attribute__((noinline)) static void row(const struct grid *g, const int *of) {
  for (unsigned x = 0; x < g->width; x++)
    if (of[x] == 1)
      g->cells[x] += 1;
}

int main(int argc, char **argv) {
  unsigned width = (unsigned)example_arg(argc, argv, 1, 40), height = (unsigned)example_arg(argc, argv, 2, 30);
  size_t all = (size_t)width * height;
  double *cells = malloc(all * 9 * sizeof *cells);
  int *of = malloc(all * sizeof *of);
  for (size_t i = 0; i < all * 9; i++)
    cells[i] = example_uniform();
  for (size_t i = 0; i < all; i++)
    of[i] = (int)(example_uniform() * 3);
  struct grid g = {width, height, cells};
  struct kinds k = {of, width, height};
  borders(&g, &k);
  row(&g, of);
  printf("%016llx\n", (unsigned long long)example_hash(cells, all * 9 * sizeof *cells));

  // The pointer of this one lies behind the last page that can be read, and of no cell it is asked for.
  size_t page = 4096;
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0)
    return 1;
  struct grid *edge = (struct grid *)(pages + page - 2 * sizeof(unsigned));
  edge->width = width;
  edge->height = height;
  memset(of, 0, all * sizeof *of);
  borders(edge, &k);
  row(edge, of);
  printf("%u\n", edge->width);
  return 0;
}
