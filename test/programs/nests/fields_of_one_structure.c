// The size and the arrays of an image stand in a structure, and two nests in a loop over time read them again, each under the conditions of its own loops. Stores of bytes might change them. A field is one
// value, whichever nest reads it: with two of them, one array were two, which overlap. The pointers are read only where a nest reads them: they are no addresses where no loop runs.
// ARGS: 40 30 3 0
// ARGS: 40 5 4 0
// ARGS: 33 3 2 1
// ARGS: 2 30 3 0
// ARGS: 1 1 2 2
// ARGS: 0 5 2 2
// ARGS: 40 30 2 3
// OFFLOAD: yes
// KERNELS: blur smooth
#include "example.h"

#define NOINLINE __attribute__((noinline)) static
#define ROW 40

struct image {
  int w, h;
  unsigned char *data, *copy;
};

struct grid {
  int rows, columns;
  int *u, *v;
};

NOINLINE void blur(struct image *a, int times) {
  for (int t = 0; t < times; t++) {
    for (int y = 0; y < a->h; y++)
      for (int x = 1; x < a->w - 1; x++)
        a->copy[y * a->w + x] = (a->data[y * a->w + x - 1] + a->data[y * a->w + x] + a->data[y * a->w + x + 1]) / 3;
    for (int y = 1; y < a->h - 1; y++)
      for (int x = 0; x < a->w; x++)
        a->data[y * a->w + x] = (a->copy[(y - 1) * a->w + x] + a->copy[y * a->w + x] + a->copy[(y + 1) * a->w + x]) / 3;
  }
}

NOINLINE void smooth(struct grid *g, int times) {
  for (int t = 0; t < times; t++) {
    for (int i = 1; i < g->rows - 1; i++)
      for (int j = 1; j < g->columns - 1; j++)
        g->u[i * ROW + j] -= g->v[(i + 1) * ROW + j];
    for (int i = 1; i < g->rows - 1; i++)
      for (int j = 1; j < g->columns - 1; j++)
        g->v[i * ROW + j] += g->u[i * ROW + j - 1];
  }
}

int main(int argc, char **argv) {
  int rows = example_arg(argc, argv, 1, 40), columns = example_arg(argc, argv, 2, 30), times = example_arg(argc, argv, 3, 3);
  /* 1: one array for both; 2: no addresses; 3: the structure lies between the elements that a nest writes. */
  int kind = example_arg(argc, argv, 4, 0);
  int room = (rows + 3) * ROW;
  unsigned char *bytes = malloc(2 * room);
  int *numbers = malloc(2 * room * sizeof *numbers);
  for (int i = 0; i < 2 * room; i++) {
    bytes[i] = i * 37 % 251;
    numbers[i] = i * 7 % 11;
  }
  struct image a = {columns, rows, bytes, kind == 1 ? bytes : bytes + room};
  struct grid g = {rows, columns, numbers, kind == 1 ? numbers : numbers + room};
  if (kind == 2) {
    a.data = a.copy = (unsigned char *)8;
    g.u = g.v = (int *)8;
  }
    struct grid *grid = kind == 3 ? (struct grid *)(numbers + ROW + 32) : &g;
  *grid = g;
  blur(&a, times);
  smooth(grid, times);
  unsigned long sum = 0;
  for (int i = 0; i < 2 * room; i++)
    if (kind != 3 || i < ROW || i >= 2 * ROW) /* (Addresses differ.) */
      sum = sum * 31 + bytes[i] * 7u + numbers[i] * 3u;
  printf("%d %d %d %d %lu\n", a.w, a.h, grid->rows, grid->columns, sum);
  free(bytes);
  free(numbers);
}
