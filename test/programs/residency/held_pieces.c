// Each step writes a piece of an array beside the last one, upwards, downwards, with gaps, or exchanges two rows: the pieces stay on the device as one
// ARGS: 37
// ARGS: 0
// ARGS: 1
// ARGS: 2
// ARGS: 130
// ARGS: 300
// OFFLOAD: yes
#include "example.h"

struct pair {
  TYPE first;
  int second;
};

// An element of each of two arrays in each step, and of a third one where the program looks now and then.
__attribute__((noinline)) static double upwards(int n, TYPE *restrict a, TYPE *restrict sums, int *restrict places, float *restrict seen) {
  double found = 0;
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++)
      a[i] = a[i] * 0.75 + 1.0 / (i + k + 1);
    for (int i = 0; i < 1; i++) {
      sums[k] = a[k] + a[n - 1];
      places[k] = k * 3 + i;
    }
    for (int i = 0; i < 1; i++)
      seen[k] = (float)a[k / 2] * 2;
    if (k % 11 == 5)
      found += seen[k / 2] + sums[k];
    // The program looks at an element in each step, so that each has executions of its own.
    if (a[k] == 12345)
      break;
  }
  return found;
}

__attribute__((noinline)) static void downwards(int n, int m, TYPE *restrict a, TYPE *restrict rows) {
  for (int k = n - 1; k >= 0; k--) {
    for (int i = 0; i < n; i++)
      a[i] = a[i] * 0.5 + i - k;
    for (int j = 0; j < m; j++)
      rows[k * m + j] = a[k] + j;
    if (a[k] == 12345)
      break;
  }
}

// Two elements between the rows are nobody's.
__attribute__((noinline)) static void with_gaps(int n, int m, TYPE *restrict a, TYPE *restrict rows) {
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++)
      a[i] = a[i] * 0.5 + i - k;
    for (int j = 0; j < m; j++)
      rows[k * (m + 2) + j] = a[k] + j;
    if (a[k] == 12345)
      break;
  }
}

// A member of each structure; what lies between is the program's.
__attribute__((noinline)) static double members(int n, TYPE *restrict a, struct pair *restrict pairs) {
  double others = 0;
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++)
      a[i] = a[i] * 0.25 + k;
    for (int i = 0; i < 1; i++)
      pairs[k].first = a[k] - i;
    pairs[n - 1 - k].second += k;
    others += pairs[k].second;
    if (a[k] == 12345)
      break;
  }
  return others;
}

// Two halves of one block of memory, told apart by nobody.
__attribute__((noinline)) static void halves(int n, TYPE *a, TYPE *b, TYPE *c) {
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++)
      a[i] = a[i] * 0.5 + k;
    for (int i = 0; i < 1; i++)
      b[k] = a[k] + 1;
    for (int i = 0; i < 1; i++)
      c[k] = b[k] * 2 + a[0];
    if (a[k] == 12345)
      break;
  }
}

// Rows change places, and others follow: what comes back is compared with what went there.
__attribute__((noinline)) static double exchanges(int n, TYPE *restrict a, const int *restrict with) {
  double diagonal = 0;
  for (int k = 0; k < n; k++) {
    int p = with[k];
    if (p != k)
      for (int j = 0; j < n; j++) {
        TYPE t = a[k * n + j];
        a[k * n + j] = a[p * n + j];
        a[p * n + j] = t;
      }
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        a[i * n + j] = a[i * n + j] * 0.5 + a[k * n + j];
    diagonal += a[k * n + k];
  }
  return diagonal;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 37), m = 5;
  TYPE *a = example_array((size_t)n * n + n + 1), *sums = example_array(2 * (size_t)n + 1), *rows = example_array((size_t)n * (m + 2) + 1);
  int *places = calloc(n + 1, sizeof *places);
  float *seen = calloc(n + 1, sizeof *seen);
  struct pair *pairs = calloc(n + 1, sizeof *pairs);
  if (!places || !seen || !pairs)
    return 1;
  example_fill(a, (size_t)n * n);
  printf("%.17g\n", upwards(n, a, sums, places, seen));
  for (int i = 0; i < n; i++)
    printf("%d %.9g%s", places[i], seen[i], i % 8 == 7 ? "\n" : " ");
  example_print("sums", sums, n);
  downwards(n, m, a, rows);
  example_print("rows", rows, (size_t)n * m);
  example_fill(rows, (size_t)n * (m + 2));
  with_gaps(n, m, a, rows);
  example_print("rows with gaps", rows, (size_t)n * (m + 2));
  printf("%.17g\n", members(n, a, pairs));
  for (int i = 0; i < n; i++)
    printf("%.17g %d%s", pairs[i].first, pairs[i].second, i % 4 == 3 ? "\n" : " ");
  halves(n, a, sums, sums + n);
  example_print("halves", sums, 2 * (size_t)n);
  for (int i = 0; i < n; i++)
    places[i] = i + (i * 7 + 3) % (n - i);
  printf("%.17g\n", exchanges(n, a, places));
  example_print("a", a, (size_t)n * n);
  free(pairs), free(seen), free(places), free(rows), free(sums), free(a);
  return 0;
}
