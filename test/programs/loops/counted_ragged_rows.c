// Rows that a table points to, each with as many elements as an entry of a second table says: products of a sparse matrix whose rows lie one
// behind the other, or anywhere, sums and changes of rows in place, counts of 32 and 64 bits, in structures too. Rows may be empty, all of them or
// some; where counts are negative, for empty ones, the loop stays on the host. Rows that are written and share memory stay on the host.
// ARGS: 300 7
// ARGS: 0 3
// ARGS: 1 1
// ARGS: 33 0
// ARGS: 129 40
// OFFLOAD: yes
// KERNELS: product in_place long_counts members
#include <stdio.h>
#include <stdlib.h>

#define OUT_OF_LINE __attribute__((noinline))

struct row {
  double *values;
  int count, mark;
};

OUT_OF_LINE static void product(int n, double *const *values, int *const *columns, const int *counts, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    const double *own = values[i];
    const int *at = columns[i];
    const int most = counts[i];
    for (int j = 0; j < most; j++)
      sum += own[j] * x[at[j]];
    y[i] = sum;
  }
}

OUT_OF_LINE static void in_place(int n, double **values, const int *counts) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < counts[i]; j++)
      values[i][j] = values[i][j] * 0.75 + j;
}

OUT_OF_LINE static void negative(int n, double *const *values, const int *counts, double *restrict y) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < counts[i]; j++)
      y[i] += values[i][j];
}

OUT_OF_LINE static void long_counts(int n, double **values, const long *counts, double *restrict y) {
  for (int i = 0; i < n; i++) {
    double most = 0;
    for (long j = 0; j < counts[i]; j++)
      most = values[i][j] > most ? values[i][j] : most;
    y[i] += most;
  }
}

OUT_OF_LINE static void members(int n, const struct row *rows, double *restrict y) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < rows[i].count; j++)
      sum += rows[i].values[j] * (j + 1);
    y[i] -= sum;
  }
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  int n = atoi(argv[1]), longest = atoi(argv[2]);
  int *counts = malloc(sizeof(int) * (n + 1)), *all_columns = malloc(sizeof(int) * (n + 1) * (longest + 1)), **columns = malloc(sizeof(int *) * (n + 1));
  long *wide = malloc(sizeof(long) * (n + 1));
  double *all = malloc(sizeof(double) * (n + 1) * (longest + 1)), **values = malloc(sizeof(double *) * (n + 1));
  double **apart = malloc(sizeof(double *) * (n + 1)), *x = malloc(sizeof(double) * (n + 1)), *y = malloc(sizeof(double) * (n + 1));
  struct row *rows = malloc(sizeof(struct row) * (n + 1));
  for (int i = 0, at = 0; i < n; i++) {
    int count = longest ? (i * 7 + 3) % (longest + 1) : 0;
    counts[i] = wide[i] = count;
    values[i] = all + at, columns[i] = all_columns + at;
    apart[i] = malloc(sizeof(double) * (count + 1));
    for (int j = 0; j < count; j++) {
      all[at + j] = ((at + j) * 37 + 11) % 101 / 7.0;
      all_columns[at + j] = (i * 5 + j * 3) % n;
      apart[i][j] = (i * 13 + j * 29) % 97 / 9.0;
    }
    at += count;
    rows[i].values = apart[i], rows[i].count = count, rows[i].mark = i;
    x[i] = (i * 53 + 5) % 97 / 9.0, y[i] = i;
  }
  double total = 0;
  for (int t = 0; t < 3; t++) {
    product(n, values, columns, counts, x, y);
    in_place(n, apart, counts);
    long_counts(n, apart, wide, y);
    members(n, rows, y);
    negative(n, apart, counts, y);
    for (int i = 0; i < n; i++)
      total = total * 0.99 + y[i];
  }
  for (int i = 0; i < n; i += 3)
    counts[i] = -1;
  negative(n, apart, counts, y);
  total += n ? y[n / 2] : 0;
  // Two rows with elements in common.
  if (n > 2) {
    apart[0] = apart[2] = values[0];
    if (wide[0] > 1 && wide[2] > 1) {
      counts[0] = counts[2] = 2;
      in_place(3, apart, counts);
      total += apart[0][0] + apart[2][1];
    }
  }
  printf("%.17g\n", total);
  return 0;
}
