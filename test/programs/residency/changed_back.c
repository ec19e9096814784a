// An element that a nest changes, that the program reads between two nests, and that the second nest changes back to what it was before the first: it has
// to come back a second time. In a grid of which every other column is set, and then every other and every third one.
// ARGS: 5 5 1
// ARGS: 33 20 3
// ARGS: 6 7 2
// ARGS: 1 1 2
// ARGS: 129 40 2
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static int steps(int n, int m, int times, const int a[m][n], int b[m][n]) {
  for (int t = 0; t < times; ++t) {
    for (int j = 0; j < m; ++j)
      for (int i = 0; i < n; i += 2)
        b[j][i] = a[j][i];
    if (b[m - 1][n - 1] == 7777)
      return t;
    for (int j = 0; j < m; ++j)
      for (int i = 0; i < n; i += 2)
        b[j][i] = a[j][n - 1 - i];
    for (int j = 0; j < m; ++j)
      for (int i = 0; i < n; i += 3)
        b[j][i] = 2 * a[j][i];
  }
  return times;
}

// The first column that is no multiple of 3, read again and again.
__attribute__((noinline)) static long columns(int n, int m, int times, const int a[m][n], int b[m][n]) {
  long sum = 0;
  for (int t = 0; t < times; ++t) {
    for (int j = 0; j < m; ++j)
      for (int i = 0; i < n; i += 2)
        b[j][i] = a[j][i] + t % 2;
    for (int j = 0; j < m; ++j)
      sum = sum * 3 + b[j][n - 1];
    for (int j = 0; j < m; ++j)
      for (int i = 0; i < n; i += 2)
        b[j][i] = a[j][n - 1 - i];
    for (int j = 0; j < m; ++j)
      for (int i = 0; i < n; i += 3)
        b[j][i] = 2 * a[j][i];
  }
  return sum;
}

static unsigned hash(int n, const int *b) {
  unsigned h = 1;
  for (int k = 0; k < n; ++k)
    h = h * 31 + (unsigned)b[k];
  return h;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 5), m = (int)example_arg(argc, argv, 2, 5), times = (int)example_arg(argc, argv, 3, 1);
  int(*a)[n] = malloc(sizeof(int[m][n])), (*b)[n] = malloc(sizeof(int[m][n]));
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n; ++i) {
      a[j][i] = (int)(example_bits() >> 50);
      b[j][i] = i - j;
    }
  for (int round = 0; round < 3; ++round) {
    int reached = steps(n, m, times, a, b);
    printf("%d %u\n", reached, hash(n * m, &b[0][0]));
    long sum = columns(n, m, times + 1, a, b);
    printf("%ld %u\n", sum, hash(n * m, &b[0][0]));
  }
  return 0;
}
