// Counters of elements that the loop keeps in memory: a list's length, a pointer that is passed by reference, a global number; of lists whose
// elements might be their length, of what is appended under a condition, and rows that may be empty, which stay on the host.
// ARGS: 100 7
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 33 64
// OFFLOAD: yes
// KERNELS: append put global_count
#include "example.h"

typedef struct {
  double *data;
  long count;
} list_t;

typedef struct {
  long *data;
  long count;
} longs_t;

static int written;

__attribute__((noinline)) static void append(list_t *l, int n, const double *x) {
  for (int i = 0; i < n; i++)
    l->data[l->count++] = x[i] * 2.0 + 1.0;
}

__attribute__((noinline)) static void append_rows(list_t *l, int n, int m, const double *x) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      l->data[l->count++] = x[i * m + j] - x[j];
}

__attribute__((noinline)) static void put(double **to, int n, const double *x) {
  for (int i = 0; i < n; i++)
    *(*to)++ = x[n - 1 - i];
}

__attribute__((noinline)) static void global_count(double *restrict to, int n, const double *x) {
  for (int i = 0; i < n; i++) {
    to[written] = x[i] + i;
    written += 2;
  }
}

__attribute__((noinline)) static void append_long(longs_t *l, int n) {
  for (int i = 0; i < n; i++)
    l->data[l->count++] = i;
}

__attribute__((noinline)) static void positive(list_t *l, int n, const double *x) {
  for (int i = 0; i < n; i++)
    if (x[i] > 0)
      l->data[l->count++] = x[i];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 100), m = (int)example_arg(argc, argv, 2, 7);
  size_t all = 8 * (size_t)n * (m + 2) + 64;
  double *x = example_array(all);
  list_t l = {example_array(all), 3};
  example_fill(x, all);
  example_fill(l.data, all);
  append(&l, n, x);
  printf("%ld ", l.count);
  example_print("append", l.data, all);
  append_rows(&l, n, m, x);
  printf("%ld ", l.count);
  example_print("rows", l.data, all);
  double *to = l.data + 1;
  put(&to, n, x);
  printf("%ld ", (long)(to - l.data));
  example_print("put", l.data, all);
  global_count(l.data, n, x);
  global_count(l.data, n, x + 1);
  printf("%d ", written);
  example_print("global", l.data, all);
  positive(&l, n, x);
  printf("%ld ", l.count);
  example_print("positive", l.data, all);
  // The list's own length is its second element.
  struct {
    longs_t list;
    long rest[64];
  } own = {{0}};
  own.list.data = &own.list.count - 1;
  append_long(&own.list, 8);
  printf("%ld %ld\n", own.list.count, own.rest[0]);
  return 0;
}
