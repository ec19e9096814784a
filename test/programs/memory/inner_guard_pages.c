// Pages that can't be accessed lie between the first and the last element of an array: blocks of one mapping, rows a page apart. Nothing
// that the program does touches them. The loop that fills the list is behind a loop with several ends, and runs on the device.
// ARGS: 1024
// OFFLOAD: partial
// STAYS: fill add_rows read_rows set_rows two some: between their rows are pages that cannot be accessed
#define TYPE float
#include "example.h"
#include <sys/mman.h>
#include <unistd.h>

#define OUT_OF_LINE __attribute__((noinline))

OUT_OF_LINE static void fill(char *m, int n, int step) {
  float *lo = (float *)m, *hi = (float *)(m + 8192);
  for (int i = 0; i < n; i++)
    lo[i] = i % 13;
  for (int i = 0; i < n; i++)
    hi[i] = i % 5 + step;
}

OUT_OF_LINE static void add_rows(float *a, int n, int m, int ld) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i * ld + j] += i + j;
}

OUT_OF_LINE static void set_rows(float *a, int n, int m, int ld) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i * ld + j] = i - j;
}

OUT_OF_LINE static void read_rows(float *o, const float *a, int n, int m, int ld) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      o[i * m + j] = a[i * ld + j];
}

OUT_OF_LINE static void two(float *a, int offset, int n) {
  for (int i = 0; i < n; i++)
    a[i] = a[i + offset] + 1;
}

/* Some of them, by what the data are. */
OUT_OF_LINE static void some(float *a, const int *at, int n, int m, int ld) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (at[j] > 0)
        a[i * ld + j] += at[j];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1024);
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (page != 4096 || n > 1024)
    return 0;
  char *m = mmap(0, 17 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (m == MAP_FAILED)
    return 2;
  for (int i = 1; i < 17; i += 2)
    if (mprotect(m + i * page, page, PROT_NONE))
      return 2;
  float *a = (float *)m, *o = example_array(8 * n);
  int *at = malloc(n * sizeof *at);
  for (int i = 0; i < n; i++)
    at[i] = i % 3;
  fill(m, n, 0);
  add_rows(a, 8, n, 2048);
  read_rows(o, a, 8, n, 2048);
  example_print("o", o, 8 * n);
  two(a, 2048, n);
  set_rows(a + 2048, 3, n, 2048);
  fill(m + 16384, n, 3);
  some(a, at, 8, n, 2048);
  read_rows(o, a, 8, n, 2048);
  example_print("o", o, 8 * n);
  free(o), free(at);
  return 0;
}
