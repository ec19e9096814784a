// Searches for a pivot that compare with the element chosen so far: columns and rows, absolute values, ties, NaNs; and some that choose, or change, something else
// ARGS: 37
// ARGS: 0
// ARGS: 1
// ARGS: 2
// ARGS: 3
// ARGS: 300
// OFFLOAD: yes
#include "example.h"

#include <math.h>

#define SEARCH(NAME, TYPE, A, KEY, OP)                                                   \
  __attribute__((noinline)) static int NAME(int n, int k, TYPE) {                        \
    int p = k;                                                                           \
    for (int i = k + 1; i < n; i++)                                                      \
      if (KEY(A(i)) OP KEY(A(p)))                                                        \
        p = i;                                                                           \
    return p;                                                                            \
  }

#define ITSELF(x) (x)
#define IN_COLUMN(i) a[(i) * n + k]
#define IN_ROW(i) a[k * n + (i)]
#define IN_TABLE(i) a[i][k]
#define WIDE(i) a[(long)(i) * n + k]
#define TURNED(i) a[(n - 1 - (i)) * n + k]

SEARCH(column, const double *a, IN_COLUMN, fabs, >)
SEARCH(column_last, const double *restrict a, IN_COLUMN, fabs, >=)
SEARCH(column_least, const double *a, WIDE, fabs, <)
SEARCH(column_itself, const double *a, IN_COLUMN, ITSELF, >)
SEARCH(row, const double *a, IN_ROW, fabs, >)
SEARCH(turned, const double *a, TURNED, fabs, >)
SEARCH(table, const double (*a)[n], IN_TABLE, fabs, >)
SEARCH(integers, const int *a, IN_COLUMN, abs, >)
SEARCH(floats, const float *a, IN_COLUMN, fabsf, >)

// The chosen element is not the one that was compared.
__attribute__((noinline)) static int next_one(int n, int k, const double *a) {
  int p = k;
  for (int i = k + 1; i + 1 < n; i++)
    if (fabs(a[i * n + k]) > fabs(a[p * n + k]))
      p = i + 1;
  return p;
}

// The loop changes what it has chosen.
__attribute__((noinline)) static int changed(int n, int k, double *a) {
  int p = k;
  for (int i = k + 1; i < n; i++) {
    if (fabs(a[i * n + k]) > fabs(a[p * n + k]))
      p = i;
    a[p * n + k] *= 0.5;
  }
  return p;
}

// Another column is compared with.
__attribute__((noinline)) static int crossed(int n, int k, const double *a) {
  int p = k;
  for (int i = k + 1; i < n; i++)
    if (fabs(a[i * n + k]) > fabs(a[p * n]))
      p = i;
  return p;
}

// Gauss and Jordan, with the column's largest element and a right-hand side.
__attribute__((noinline)) static void solve(int n, double *restrict a, double *restrict b) {
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[p * n + k]))
        p = i;
    for (int j = 0; j < n; j++) {
      double t = a[k * n + j];
      a[k * n + j] = a[p * n + j];
      a[p * n + j] = t;
    }
    double t = b[k];
    b[k] = b[p];
    b[p] = t;
    double d = a[k * n + k];
    for (int j = k; j < n; j++)
      a[k * n + j] /= d;
    b[k] /= d;
    for (int i = 0; i < n; i++)
      if (i != k) {
        double f = a[i * n + k];
        for (int j = k; j < n; j++)
          a[i * n + j] -= f * a[k * n + j];
        b[i] -= f * b[k];
      }
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 37);
  size_t count = (size_t)n * n;
  double *a = example_array(count + 1), *b = example_array(n + 1);
  float *f = calloc(count + 1, sizeof *f);
  int *m = calloc(count + 1, sizeof *m);
  example_fill(a, count);
  example_fill(b, n);
  for (size_t i = 0; i < count; i++) {
    a[i] = a[i] - 0.4;
    m[i] = (int)(a[i] * 20);
    f[i] = (float)m[i];
  }
  for (int turn = 0; turn < 3 && n > 0; turn++) {
    if (turn == 1)
      for (size_t i = 0; i < count; i += 5)
        a[i] = NAN;
    if (turn == 2)
      for (size_t i = 0; i < count; i++)
        a[i] = m[i]; // ties
    for (int k = 0; k < n; k += 1 + n / 4)
      printf("%d %d %d %d %d %d %d %d %d %d %d\n", column(n, k, a), column_last(n, k, a), column_least(n, k, a), column_itself(n, k, a), row(n, k, a), turned(n, k, a),
             table(n, k, (const double (*)[n])a), integers(n, k, m), floats(n, k, f), next_one(n, k, a), crossed(n, k, a));
  }
  if (n > 0)
    printf("%d\n", changed(n, 0, a));
  example_print("a", a, count);
  for (size_t i = 0; i < count; i++)
    a[i] += 0.01 * (double)(i % 13);
  for (int i = 0; i < n; i++)
    a[i * n + i] += 30;
  if (n < 40)
    solve(n, a, b);
  example_print("a", a, count);
  example_print("b", b, n);
  return 0;
}
