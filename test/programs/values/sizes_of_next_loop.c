// Sizes in globals that two nests of a function have, with calls in between that may set errno: the second nest's are what the place holds, not what was loaded last.
// Where the array is next to the sizes, or has them in it, the original runs.
// ARGS: 30 40
// ARGS: 1 1
// ARGS: 0 7
// OFFLOAD: yes
// FALLBACK: stores to argument 0 may change
// KERNELS: pressures
// STAYS: retyped: the place of the size is that of the last element on purpose
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int rows, columns;
static int sized[4096];

__attribute__((noinline)) static void pressures(double *a, double *b) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j <= columns; j++)
      a[i * (columns + 1) + j] = pow(b[(i + rows) * columns + j], 1.4);
  for (int t = 0; t < 4; t++)
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < columns; j++)
        b[(t * rows + i) * columns + j] += 0.001 * a[i * (columns + 1) + j + 1] - 0.001 * a[i * (columns + 1) + j];
}

/* `size` may be in the array. */
__attribute__((noinline)) static void between(int *a, int *size) {
  for (int i = 0; i < *size; i++)
    a[i] = (int)pow(i, 1.5);
  for (int i = 0; i < *size; i++)
    a[i] = a[i] * 3 + *size;
}

/* The last element takes the place of `size`, which has the type of the elements from then on. */
__attribute__((noinline)) static int retyped(double *a, const int *size, int n) {
  int last = 0;
  for (int i = 0; i < n; i++) {
    last = *size;
    a[i] = pow(last, 1.1) + i;
  }
  return last;
}

int main(int argc, char **argv) {
  rows = atoi(argv[1]), columns = atoi(argv[2]);
  long n = (rows + 8) * (columns + 2) * 8;
  double *a = calloc(n, sizeof *a), *b = malloc(n * sizeof *b), sum = 0;
  int size = rows * columns;
  for (long i = 0; i < n; i++)
    b[i] = 1 + i % 13 * 0.25;
  for (int t = 0; t < 3; t++)
    pressures(a, b);
  for (long i = 0; i < n; i++)
    sum += a[i] + 3 * b[i];
  between(sized, &size);
  for (int i = 0; i < 4096; i++)
    sum += sized[i] * (double)(i % 7);
  sized[50] = 60;
  between(sized, sized + 50);
  for (int i = 0; i < 4096; i++)
    sum += sized[i] * (double)(i % 5);
  double *c = calloc(65, sizeof *c);
  *(int *)&c[64] = 7;
  sum += retyped(c, (int *)&c[64], 65) + c[3] + c[64];
  printf("%.17g %d\n", sum, argc);
  return 0;
}
