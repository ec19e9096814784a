// Arrays that each iteration of a loop fills and reads, below a loop over time that keeps its order: each iteration of the inner loop gets its own; what is left in them behind all loops is what
// the program would have left, be it of an earlier step, where later ones have fewer iterations.
// ARGS: 700 3
// ARGS: 0 2
// ARGS: 1 1
// ARGS: 257 4
// OFFLOAD: yes
// KERNELS: filter shrinking kept
#define TYPE float
#include "example.h"

#define NOINLINE __attribute__((noinline)) static
#define TILE 64
#define RADIUS 3

/* A filter by tiles, with a halo on either side. */
NOINLINE void filter(int n, int times, const float *restrict x, float *restrict y) {
  for (int t = 0; t < times; t++)
    for (int i = 0; i < n; i += TILE) {
      float tile[TILE + 2 * RADIUS];
      for (int j = 0; j < TILE; j++) {
        tile[j + RADIUS] = x[i + j];
        if (j < RADIUS) {
          tile[j] = i + j < RADIUS ? 0 : x[i + j - RADIUS];
          tile[j + RADIUS + TILE] = x[i + j + TILE];
        }
      }
      for (int j = 0; j < TILE; j++) {
        float sum = 0;
        for (int o = -RADIUS; o <= RADIUS; o++)
          sum += tile[j + RADIUS + o];
        y[i + j] = sum + t;
      }
    }
}

/* Later steps have fewer rows, and the last row that is copied decides what is left. */
NOINLINE void shrinking(int n, int times, float *restrict row, const float *restrict x, float *restrict y) {
  for (int t = 0; t < times; t++)
    for (int i = 0; i < n / 32 - 2 * t; i++) {
      for (int j = 0; j < 32; j++)
        row[j] = x[32 * i + j] * (t + 1);
      for (int j = 0; j < 32; j++)
        y[32 * i + j] += row[31 - j];
    }
}

/* One array is new in each row, the other one goes on from row to row. */
NOINLINE void kept(int n, int times, float *restrict sums, const float *restrict x, float *restrict y) {
  float row[16];
  for (int t = 0; t < times; t++)
    for (int i = 0; i < n / 16; i++) {
      for (int j = 0; j < 16; j++)
        row[j] = x[16 * i + j] + t;
      for (int j = 0; j < 16; j++) {
        sums[j] += row[15 - j];
        y[16 * i + j] = row[j] * row[(j + 5) % 16];
      }
    }
}

int main(int argc, char **argv) {
  int n = example_arg(argc, argv, 1, 700), times = example_arg(argc, argv, 2, 3);
  int room = n + 2 * TILE;
  float *x = example_array(room), *y = example_array(room), *row = example_array(32), *sums = example_array(16);
  example_fill(x, room);
  example_fill(y, room);
  example_fill(row, 32);
  example_fill(sums, 16);
  filter(n, times, x, y);
  shrinking(n, times, row, x, y);
  kept(n, times, sums, x, y);
  example_print("y", y, room);
  example_print("row", row, 32);
  example_print("sums", sums, 16);
  free(x);
  free(y);
  free(row);
  free(sums);
}
