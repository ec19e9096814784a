// Boxes of so many points that steps are not fused: a launch a step, in which neighbouring points share what they load; in two arrays, in two planes of
// one, with a border that is kept, and with conditions.
// ARGS: 2 21
// ARGS: 1 37
// ARGS: 1 5
// ARGS: 0 9
// OFFLOAD: yes
// TURNS: 3
#include "example.h"

#define KERNEL __attribute__((noinline)) static
#define ROW(a, k) (0.11 * a[k - 2] + 0.19 * a[k - 1] + 0.4 * a[k] + 0.2 * a[k + 1] + 0.1 * a[k + 2])
#define PLANE(a, j, k) (0.1 * ROW(a[j - 2], k) + 0.2 * ROW(a[j - 1], k) + 0.4 * ROW(a[j], k) + 0.2 * ROW(a[j + 1], k) + 0.1 * ROW(a[j + 2], k))
#define BOX(a, i, j, k) \
  (0.09 * PLANE(a[i - 2], j, k) + 0.2 * PLANE(a[i - 1], j, k) + 0.4 * PLANE(a[i], j, k) + 0.21 * PLANE(a[i + 1], j, k) + 0.1 * PLANE(a[i + 2], j, k))

KERNEL void planes(int steps, int n, TYPE a[2][n][n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 2; i < n - 2; i++)
      for (int j = 2; j < n - 2; j++)
        for (int k = 2; k < n - 2; k++)
          a[(t + 1) % 2][i][j][k] = BOX(a[t % 2], i, j, k);
}

KERNEL void arrays(int steps, int n, TYPE a[n][n][n], TYPE b[n][n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 2; i < n - 2; i++)
      for (int j = 2; j < n - 2; j++)
        for (int k = 2; k < n - 2; k++)
          b[i][j][k] = BOX(a, i, j, k);
    for (int i = 2; i < n - 2; i++)
      for (int j = 2; j < n - 2; j++)
        for (int k = 2; k < n - 2; k++)
          a[i][j][k] = b[i][j][k];
  }
}

/* What a point wrote in this step is read again by the same point. */
KERNEL void residual(int steps, int n, TYPE a[2][n][n], TYPE r[n][n]) {
  for (int t = 0; t < steps; t++)
    for (int j = 2; j < n - 2; j++)
      for (int k = 2; k < n - 2; k++) {
        a[(t + 1) % 2][j][k] = PLANE(a[t % 2], j, k);
        r[j][k] += a[(t + 1) % 2][j][k] - a[t % 2][j][k];
      }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 3), n = (int)example_arg(argc, argv, 2, 21);
  size_t cube = (size_t)n * n * n, square = (size_t)n * n;
  TYPE *a = example_array(2 * cube), *b = example_array(cube), *c = example_array(cube), *d = example_array(2 * square), *r = example_array(square);
  example_fill(a, 2 * cube);
  example_fill(b, cube);
  example_fill(c, cube);
  example_fill(d, 2 * square);
  example_fill(r, square);
  planes(steps, n, (TYPE(*)[n][n][n])(void *)a);
  arrays(steps, n, (TYPE(*)[n][n])(void *)b, (TYPE(*)[n][n])(void *)c);
  residual(steps, n, (TYPE(*)[n][n])(void *)d, (TYPE(*)[n])(void *)r);
  example_print("a", a, 2 * cube);
  example_print("b", b, cube);
  example_print("d", d, 2 * square);
  example_print("r", r, square);
  free(a);
  free(b);
  free(c);
  free(d);
  free(r);
  return 0;
}
