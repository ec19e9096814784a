// Tables of rows that are parts of one another, and of rows that are missing, swapped in a time loop: loops over one row each see what others have written to the memory of theirs.
// ARGS: 12 24
// ARGS: 3 1
// ARGS: 30 100
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void step(double **a, double **b, int rows, int width) {
  for (int t = 0; t < 3; t++) {
    for (int i = 0; i < rows; i++)
      if (a[i] && b[i])
        for (int j = 0; j < width; j++)
          a[i][j + 2] = b[i][j] + b[i][j];
    double **swap = a;
    a = b;
    b = swap;
  }
}

int main(int argc, char **argv) {
  int rows = (int)example_arg(argc, argv, 1, 12), width = (int)example_arg(argc, argv, 2, 24);
  size_t n = (size_t)(rows + 1) * (size_t)(width + 40);
  double *x = example_array(n), *y = example_array(n);
  double **a = malloc(sizeof *a * (size_t)rows), **b = malloc(sizeof *b * (size_t)rows);
  example_fill(x, n);
  example_fill(y, n);
  for (volatile int i = 0; i < rows; i++) {
    a[i] = x + i * (width + 36);
    b[i] = y + i * 7;
  }
  a[rows / 2] = b[rows / 3] = 0;
  step(a, b, rows, width);
  example_print("x", x, n);
  example_print("y", y, n);
  return 0;
}
