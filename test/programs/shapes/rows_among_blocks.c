// Triangles whose rows are blocks of a heap, equally far apart by chance, with blocks between them that the program fills, frees, allocates again and writes
// while the rows stay on the device: what lies between rows is nobody's there, and no mistake of the program's.
// ARGS: 24 48
// ARGS: 5 200
// ARGS: 2 4000
// ARGS: 1 8
// OFFLOAD: yes
#include "example.h"
#include <string.h>

static unsigned state = 11;

static int below(int n) { return (int)((state = state * 1664525u + 1013904223u) >> 8) % n; }

__attribute__((noinline)) static void times(int n, TYPE **a, const TYPE *x, TYPE *y) {
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j)
      y[i] += a[i][j - i] * x[j];
}

__attribute__((noinline)) static void change(int n, TYPE **a) {
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j)
      a[i][j - i] = 0.5 * a[i][j - i] + i - j;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 24), gap = (int)example_arg(argc, argv, 2, 48);
  TYPE **a = malloc(n * sizeof *a), *x = example_array(n), *y = example_array(n);
  long **between = malloc(n * sizeof *between);
  int words = gap / (int)sizeof(long);
  for (int i = 0; i < n; ++i) {
    // (All of one size: most allocators put these at equal distances.)
    a[i] = malloc(n * sizeof **a);
    between[i] = malloc(words * sizeof **between);
    for (int j = 0; j < n - i; ++j)
      a[i][j] = below(2000) / 1000.0 - 1;
    for (int k = 0; k < words; ++k)
      between[i][k] = 7 + k;
  }
  example_fill(x, n);
  example_fill(y, n);
  long sum = 0;
  for (int round = 0; round < 12; ++round) {
    times(n, a, x, y);
    int at = below(n);
    for (int k = 0; k < words; ++k)
      between[at][k] += round;
    change(n, a);
    if (round % 3 == 1) {
      long *old = between[at];
      for (int k = 0; k < words; ++k)
        sum += old[k];
      free(old);
      between[at] = malloc(words * sizeof **between);
      memset(between[at], round, words * sizeof **between);
    }
    if (round % 4 == 2)
      a[n - 1][0] += 1;
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < words; ++k)
      sum += between[i][k];
    example_print("a", a[i], n - i);
  }
  example_print("y", y, n);
  printf("%ld\n", sum);
  return 0;
}
