// Sizes in a structure that each of two nests reads again, in a loop over time: stores of integers might change them, and which of them is read depends on what was read before. They are what
// they were before the loop where no store meets them; the original loop runs where one does.
// ARGS: 40 30 4 0
// ARGS: 40 5 4 1
// ARGS: 3 3 2 0
// ARGS: 0 5 2 0
// ARGS: 2 30 3 0
// OFFLOAD: yes
// KERNELS: step
#define TYPE int
#include "example.h"

#define NOINLINE __attribute__((noinline)) static
#define ROW 30

struct grid {
  int rows, columns;
};

NOINLINE void step(struct grid *g, int times, int *u, int *v) {
  for (int t = 0; t < times; t++) {
    for (int i = 1; i < g->rows - 1; i++)
      for (int j = 1; j < g->columns - 1; j++)
        u[i * ROW + j] -= v[(i + 1) * ROW + j];
    for (int i = 1; i < g->rows - 1; i++)
      for (int j = 1; j < g->columns - 1; j++)
        v[i * ROW + j] += u[i * ROW + j - 1];
  }
}

int main(int argc, char **argv) {
  int rows = example_arg(argc, argv, 1, 40), columns = example_arg(argc, argv, 2, 30), times = example_arg(argc, argv, 3, 4);
  int inside = example_arg(argc, argv, 4, 0), room = (rows + 3) * ROW;
  int *u = example_array(room), *v = example_array(room);
  for (int i = 0; i < room; i++) {
    u[i] = i * 7 % 11;
    v[i] = i % 3;
  }
  struct grid *g = malloc(sizeof(struct grid));
  /* Or in the array that is written: element 32 is the number of rows, 33 that of columns. */
  if (inside) {
    free(g);
    g = (struct grid *)(u + 32);
  }
  *g = (struct grid){rows, columns};
  step(g, times, u, v);
  long sum = 0;
  for (int i = 40; i < room; i++)
    sum = sum * 31 + u[i] * 7 + v[i] * 3;
  printf("%d %d %ld\n", g->rows, g->columns, sum);
  if (!inside)
    free(g);
  free(u);
  free(v);
}
