// Sizes and arrays reached through a structure, itself reached through a pointer.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
// KERNELS: kernel
#include "example.h"

struct grid {
  int rows, columns;
  double *old, *new;
  double weight;
};

struct model {
  struct grid *grid;
  int steps;
};

__attribute__((noinline)) static void kernel(const struct model *model) {
  for (int t = 0; t < model->steps; ++t) {
    for (int i = 1; i < model->grid->rows - 1; ++i)
      for (int j = 1; j < model->grid->columns - 1; ++j) {
        const double *row = model->grid->old + (long)i * model->grid->columns;
        model->grid->new[(long)i * model->grid->columns + j] = (row[j - 1] + row[j + 1]) * 0.375 + row[j] * 0.25;
      }
    for (int i = 1; i < model->grid->rows - 1; ++i)
      for (int j = 1; j < model->grid->columns - 1; ++j)
        model->grid->old[(long)i * model->grid->columns + j] = model->grid->new[(long)i * model->grid->columns + j];
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  struct grid grid = {n, m, example_array(count), example_array(count), 0.5};
  struct model model = {&grid, 4};
  example_fill(grid.old, count);
  example_fill(grid.new, count);
  kernel(&model);
  example_print("A", grid.old, count);
  example_print("B", grid.new, count);
  return 0;
}
