// Largest and smallest elements of nests whose outer loop surely runs: what each row leaves behind is used after the last one only.
// ARGS: 33 17
// ARGS: 1 1
// ARGS: 2 65
// OFFLOAD: yes
#include "example.h"
#include <math.h>

typedef struct {
  int nx, ny, ghost;
  double *u, *rhs;
} grid;

#define AT(g, i, j) ((i) + (g)->ghost + ((j) + (g)->ghost) * ((g)->nx + 2 * (g)->ghost))

__attribute__((noinline)) static double residual(const grid *g) {
  double most = 0;
  if (g->ny < 1)
    return -1;
  for (int j = 0; j < g->ny; j++)
    for (int i = 0; i < g->nx; i++) {
      double r = g->rhs[AT(g, i, j)] - g->u[AT(g, i - 1, j)] + 3 * g->u[AT(g, i, j)] - g->u[AT(g, i, j + 1)];
      if (fabs(r) > most)
        most = fabs(r);
    }
  return most;
}

// The value of each row is used as well, so that it has to be the one up to there.
__attribute__((noinline)) static int rows(const grid *g, int *upto) {
  int least = 1000;
  if (g->ny < 1)
    return -1;
  for (int j = 0; j < g->ny; j++) {
    for (int i = 0; i < g->nx; i++) {
      int v = (int)(g->u[AT(g, i, j)] * 900);
      least = v < least ? v : least;
    }
    upto[j] = least;
  }
  return least;
}

int main(int argc, char **argv) {
  int nx = (int)example_arg(argc, argv, 1, 33), ny = (int)example_arg(argc, argv, 2, 17);
  size_t cells = (size_t)(nx + 4) * (size_t)(ny + 4);
  grid g = {nx, ny, 2, example_array(cells), example_array(cells)};
  int *upto = calloc((size_t)ny, sizeof *upto);
  if (!upto)
    return 2;
  example_fill(g.u, cells);
  example_fill(g.rhs, cells);
  printf("%a\n", residual(&g));
  printf("%d\n", rows(&g, upto));
  for (int j = 0; j < ny; j++)
    printf("%d\n", upto[j]);
  return 0;
}
