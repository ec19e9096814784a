// A grid's rows without their borders, packed and unpacked: rows of `x - 2 * h` elements, behind an offset.
// ARGS: 0 0 0 0
// ARGS: 8 6 1 1
// ARGS: 70 40 3 2
// ARGS: 1000 300 2 4
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void pack(int x, int y, int depth, int h, const double *grid, double *buffer, int offset) {
  const int inner = x - 2 * h;
  for (int j = y - h - depth; j < y - h; j++)
    for (int k = h; k < x - h; k++)
      buffer[(k - h) + (j - (y - h - depth)) * inner + offset] = grid[j * x + k];
}

__attribute__((noinline)) static void unpack(int x, int y, int depth, int h, double *grid, const double *buffer, int offset) {
  const int inner = x - 2 * h;
  for (int j = h; j < h + depth; j++)
    for (int k = h; k < x - h; k++)
      grid[j * x + k] = buffer[(k - h) + (j - h) * inner + offset];
}

int main(int argc, char **argv) {
  int x = (int)example_arg(argc, argv, 1, 70), y = (int)example_arg(argc, argv, 2, 40);
  int depth = (int)example_arg(argc, argv, 3, 3), h = (int)example_arg(argc, argv, 4, 2);
  long cells = (long)x * y;
  double *grid = malloc((cells + 1) * sizeof *grid), *buffer = calloc((long)x * depth + 8, sizeof *buffer);
  for (long k = 0; k < cells; k++)
    grid[k] = example_uniform();
  for (int round = 0; round < 3; round++) {
    pack(x, y, depth, h, grid, buffer, 5);
    unpack(x, y, depth, h, grid, buffer, 5);
    pack(x, y, depth, h, grid, buffer, 0);
  }
  printf("%016llx %016llx\n", (unsigned long long)example_hash(grid, cells * sizeof *grid), (unsigned long long)example_hash(buffer, (x * depth + 8) * sizeof *buffer));
  return 0;
}
