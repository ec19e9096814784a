// Rows whose lengths stand beside their addresses, and are looked at in front of each access: an array, where all are equal and nothing that
// is written is the table. A row that is a length, and results that are lengths, make the loop end where it did.
// ARGS: 24 40
// ARGS: 9 1
// ARGS: 2 3
// ARGS: 0 0
// OFFLOAD: partial
// KERNELS: totals
#include <stdio.h>
#include <stdlib.h>

#define OUT_OF_LINE __attribute__((noinline))

struct row {
  long *p;
  long n;
};

static struct row *table;
static long rows, size;

static long mixed(void) {
  unsigned long h = 5;
  for (long i = 0; i < rows; i++) {
    h = h * 31 + (unsigned long)table[i].n;
    for (long j = 0; j < size && j < table[i].n; j++)
      h = h * 31 + (unsigned long)table[i].p[j];
  }
  return (long)h;
}

_Noreturn OUT_OF_LINE static void fail(long i, long j) {
  printf("row %ld has no element %ld, %ld\n", i, j, mixed());
  exit(0);
}

OUT_OF_LINE static void added(struct row *r, long n, long m, long by) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++) {
      if (j >= r[i].n)
        fail(i, j);
      r[i].p[j] = r[i].p[j] * by + j;
    }
}

OUT_OF_LINE static void totals(struct row *r, long n, long m, long *out, long step) {
  for (long i = 0; i < n; i++) {
    long s = 0;
    for (long j = 0; j < m; j++) {
      if (j >= r[i].n)
        fail(i, j);
      s += r[i].p[j] * (j + 1);
    }
    out[i * step] = s;
  }
}

static void fill(long n, long m) {
  rows = n, size = m;
  for (long i = 0; i < n; i++) {
    table[i].n = m;
    table[i].p = malloc((m + i % 3) * sizeof(long));
    for (long j = 0; j < m; j++)
      table[i].p[j] = (i * 37 + j * 11) % 101;
  }
}

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 24, m = argc > 2 ? atol(argv[2]) : 40;
  table = calloc(n + 4, sizeof *table);
  long *out = calloc(n + 1, sizeof *out);
  fill(n, m);
  added(table, n, m, 3);
  totals(table, n, m, out, 1);
  printf("%ld %ld %ld\n", mixed(), out[0], out[n / 2]);
  if (n < 9)
    return 0;
  // The totals of the first rows are the lengths of later ones: 0 for row 3.
  for (long j = 0; j < m; j++)
    table[3].p[j] = 0;
  if (m > 1)
    totals(table, n, m, &table[n / 2].n, sizeof *table / sizeof(long));
  // Row 0 is the length of the last row, which is 0 then.
  fill(n, 1);
  table[0].p = &table[n - 1].n;
  added(table, n, 1, 0);
  printf("not reached\n");
}
