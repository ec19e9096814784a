// Points of two and four colours in place, several steps in a launch: a loop over colours whose rows begin at their parity, two nests, a guard, a colour
// for each time step, lines of one dimension, and fields that read each other.
// ARGS: 0 9 8
// ARGS: 1 4 4
// ARGS: 2 5 4
// ARGS: 3 4 5
// ARGS: 4 3 40
// ARGS: 5 40 3
// ARGS: 7 17 33
// ARGS: 13 41 270
// OFFLOAD: yes
// KERNELS: strided nests guarded by_time four line space
// TURNS: 3
#include "example.h"

#define AROUND(x, i, j) (x[(i) - 1][j] * (TYPE)0.22 + x[(i) + 1][j] * (TYPE)0.26 + x[i][(j) - 1] * (TYPE)0.19 + x[i][(j) + 1] * (TYPE)0.28)

__attribute__((noinline)) static void strided(int steps, int n, int m, TYPE x[restrict n][m], TYPE f[restrict n][m]) {
  for (int t = 0; t < steps; ++t)
    for (int colour = 0; colour < 2; ++colour)
      for (int i = 1; i < n - 1; ++i)
        for (int j = 1 + (i + colour) % 2; j < m - 1; j += 2)
          x[i][j] = AROUND(x, i, j) - f[i][j];
}

__attribute__((noinline)) static void nests(int steps, int n, int m, TYPE x[restrict n][m], TYPE f[restrict n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1 + i % 2; j < m - 1; j += 2)
        x[i][j] = (TYPE)0.4 * x[i][j] + (TYPE)0.6 * (AROUND(x, i, j) - f[i][j]);
    for (int i = 1; i < n - 1; ++i)
      for (int j = 2 - i % 2; j < m - 1; j += 2)
        x[i][j] = (TYPE)0.4 * x[i][j] + (TYPE)0.6 * (AROUND(x, i, j) - f[i][j]);
  }
}

// Right up to the border: the right-hand side is read at the last element of the array.
__attribute__((noinline)) static void guarded(int steps, int n, int m, TYPE x[restrict n + 2][m + 2], TYPE f[restrict n][m]) {
  for (int t = 0; t < steps; ++t)
    for (int colour = 0; colour < 2; ++colour)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j)
          if ((i + j) % 2 == colour)
            x[i + 1][j + 1] = AROUND(x, i + 1, j + 1) - f[i][j] * (TYPE)i + (TYPE)t;
}

__attribute__((noinline)) static void by_time(int steps, int n, int m, TYPE x[restrict n][m], TYPE f[restrict n][m]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        if (((i + j + t) & 1) == 0)
          x[i][j] = AROUND(x, i, j) - f[i][j];
}

__attribute__((noinline)) static void four(int steps, int n, int m, TYPE x[restrict n][m]) {
  for (int t = 0; t < steps; ++t)
    for (int y = 0; y < 2; ++y)
      for (int z = 0; z < 2; ++z)
        for (int i = 1 + y; i < n - 1; i += 2)
          for (int j = 1 + z; j < m - 1; j += 2)
            x[i][j] = AROUND(x, i, j) + (TYPE)0.02 * (x[i - 1][j - 1] + x[i + 1][j + 1]) - (TYPE)0.01 * (x[i - 1][j + 1] + x[i + 1][j - 1]);
}

__attribute__((noinline)) static void line(int steps, int n, TYPE x[restrict n], TYPE f[restrict n]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; i += 2)
      x[i] = (TYPE)0.47 * x[i - 1] + (TYPE)0.49 * x[i + 1] + f[i];
    for (int i = 2; i < n - 1; i += 2)
      x[i] = (TYPE)0.47 * x[i - 1] + (TYPE)0.49 * x[i + 1] + f[i];
  }
}

__attribute__((noinline)) static void space(int steps, int n, int m, TYPE x[restrict n][m][m], TYPE f[restrict n][m][m]) {
  for (int t = 0; t < steps; ++t)
    for (int colour = 0; colour < 2; ++colour)
      for (int i = 1; i < n - 1; ++i)
        for (int j = 1; j < m - 1; ++j)
          for (int k = 1 + (i + j + colour) % 2; k < m - 1; k += 2)
            x[i][j][k] = (TYPE)0.16 * (x[i - 1][j][k] + x[i + 1][j][k] + x[i][j - 1][k] + x[i][j + 1][k] + x[i][j][k - 1] + x[i][j][k + 1]) - f[i][j][k];
}

// The other field's neighbour: the loop over fields is none over space.
__attribute__((noinline)) static void fields(int steps, int n, int m, TYPE a[restrict 2][n][m], TYPE b[restrict 2][n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int c = 0; c < 2; ++c)
      for (int i = 1; i < n - 1; ++i)
        for (int j = 1; j < m - 1; ++j)
          b[c][i][j] = AROUND(a[c], i, j) + (TYPE)0.05 * a[1 - c][i][j - 1];
    for (int c = 0; c < 2; ++c)
      for (int i = 1; i < n - 1; ++i)
        for (int j = 1; j < m - 1; ++j)
          a[c][i][j] = b[c][i][j];
  }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5);
  int n = (int)example_arg(argc, argv, 2, 17), m = (int)example_arg(argc, argv, 3, 13);
  int w = m < 40 ? m : 40;
  size_t count = (size_t)(n + 2) * (m + 2), cube = (size_t)n * w * w;
  TYPE *x[6], *f = example_array(count), *big = example_array(cube), *side = example_array(cube);
  TYPE *a = example_array(2 * count), *b = example_array(2 * count);
  example_fill(f, count);
  example_fill(big, cube);
  example_fill(side, cube);
  example_fill(a, 2 * count);
  example_fill(b, 2 * count);
  for (int i = 0; i < 6; ++i) {
    x[i] = example_array(count);
    example_fill(x[i], count);
  }
  strided(steps, n, m, (void *)x[0], (void *)f);
  nests(steps, n, m, (void *)x[1], (void *)f);
  guarded(steps, n, m, (void *)x[2], (void *)f);
  by_time(steps, n, m, (void *)x[3], (void *)f);
  four(steps, n, m, (void *)x[4]);
  line(steps, n * m, x[5], f);
  space(steps, n, w, (void *)big, (void *)side);
  fields(steps, n, m, (void *)a, (void *)b);
  for (int i = 0; i < 6; ++i) {
    example_print("x", x[i], count);
    free(x[i]);
  }
  example_print("big", big, cube);
  example_print("a", a, 2 * count);
  example_print("b", b, 2 * count);
  free(f);
  free(big);
  free(side);
  free(a);
  free(b);
  return 0;
}
