// Tiles of sixteen by sixteen of a grid, counted by one number or two: how many there are in a row is the row's length divided by 16 and rounded; with borders as cases of their own; lengths that are
// no multiple of 16, shorter than one tile, and negative.
// ARGS: 48 48
// ARGS: 1 1
// ARGS: 40 40
// ARGS: 67 50
// ARGS: 15 15
// OFFLOAD: yes
// KERNELS: relax.1 growing scale halves shifted
#define TYPE float
#include "example.h"

#define NOINLINE __attribute__((noinline)) static
#define TILE 16

/* One number counts the tiles: its quotient is by the tiles of a column, its remainder by those of a row, which are as many where the grid is square. */
NOINLINE void relax(int rows, int cols, const float *x, float *y) {
  int tiles = rows * cols / (TILE * TILE), across = cols / TILE, down = rows / TILE;
  for (int t = 0; t < tiles; t++) {
    int r0 = TILE * (t / down), c0 = TILE * (t % across);
    int r1 = r0 + TILE > rows ? rows : r0 + TILE, c1 = c0 + TILE > cols ? cols : c0 + TILE;
    if (r0 == 0 || c0 == 0 || r1 == rows || c1 == cols) {
      for (int r = r0; r < r0 + TILE; r++)
        for (int c = c0; c < c0 + TILE; c++) {
          float d;
          if (r == 0 && c == 0)
            d = x[1] + x[cols];
          else if (r == 0)
            d = x[c - 1] + x[cols + c];
          else if (c == 0)
            d = x[(r - 1) * cols] + x[r * cols + 1];
          else
            d = x[(r - 1) * cols + c] + x[r * cols + c - 1];
          y[r * cols + c] = x[r * cols + c] + d;
        }
      continue;
    }
    for (int r = r0; r < r0 + TILE; r++)
      for (int c = c0; c < c0 + TILE; c++)
        y[r * cols + c] = x[(r - 1) * cols + c] + x[(r + 1) * cols + c] + x[r * cols + c - 1] + x[r * cols + c + 1];
  }
}

/* Two numbers count them. */
NOINLINE void scale(int rows, int cols, float *y) {
  int down = rows / TILE, across = cols / TILE;
  for (int p = 0; p < down; p++)
    for (int q = 0; q < across; q++)
      for (int r = 0; r < TILE; r++)
        for (int c = 0; c < TILE; c++)
          y[(p * TILE + r) * cols + q * TILE + c] *= 0.5f;
}

/* Pairs of a row, and what lies in its middle. */
NOINLINE void halves(int rows, int cols, const float *x, float *y) {
  int half = cols / 2;
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < half; c++)
      y[r * cols + c] = x[r * cols + c] + x[r * cols + 2 * c] - x[r * cols + half + c];
}

/* Rounded down, not to 0, which is different for lengths below 0. */
NOINLINE void shifted(int rows, int cols, float *y) {
  int across = cols >> 3;
  for (int r = 0; r < rows; r++)
    for (int q = 0; q < across; q++)
      for (int c = 0; c < 8; c++)
        y[r * cols + 8 * q + c] += c;
}

/* How many tiles there are is another number in each iteration of a loop that stays on the host. */
NOINLINE uint64_t growing(int rows, int cols, float *y) {
  uint64_t hash = 1;
  for (int i = 0; i < cols; i++) {
    hash = example_mix(hash, i);
    int across = (i - 3) / 4;
    for (int r = 0; r < rows; r++)
      for (int q = 0; q < across; q++)
        for (int c = 0; c < 4; c++)
          y[r * cols + 4 * q + c] += (float)(r + c);
  }
  return hash;
}

int main(int argc, char **argv) {
  int rows = example_arg(argc, argv, 1, 40), cols = example_arg(argc, argv, 2, 40);
  float *x = example_array(rows * cols + 1), *y = example_array(rows * cols + 1);
  example_fill(x, rows * cols);
  for (int k = 0; k < rows * cols; k++)
    y[k] = k % 7;
  if (rows == cols && (rows % TILE == 0 || rows < TILE))
    relax(rows, cols, x, y);
  scale(rows, cols, y);
  halves(rows, cols, x, y);
  shifted(rows, cols, y);
  printf("%d\n", (int)(growing(rows, cols, y) & 7));
  /* Lengths below 0: nothing runs. */
  scale(-40, -40, y);
  halves(rows, -33, x, y);
  shifted(rows, -1, y);
  example_print("y", y, rows * cols);
  free(x);
  free(y);
}
