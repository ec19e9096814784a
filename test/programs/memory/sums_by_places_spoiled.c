// Sums into elements that lists name, where the version by places must not run, or not as before: lists that change between executions, and in a time loop; integers that are all
// different, far apart, negative, one too large, by which what is added is a sum itself; an array that is added to itself; elements that another sum of the loop needs; a
// list that lies among the sums.
// ARGS: 333
// ARGS: 64
// OFFLOAD: partial
// FALLBACK: overlap
#include "example.h"

#define KERNEL __attribute__((noinline)) static

static unsigned number(unsigned most) {
  static unsigned long long state = 7;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % most;
}

KERNEL void added(int n, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    f[place[i]] += v[i];
}

KERNEL void looked_at(int n, const int *place, const int *from, TYPE *f) {
  for (int i = 0; i < n; ++i)
    f[place[i]] += f[from[i]] * (TYPE)0.5;
}

KERNEL void changing(int n, int count, int *place, const TYPE *v, TYPE *f) {
  for (int t = 0; t < count; ++t) {
    for (int i = 0; i < n; ++i)
      f[place[i]] += v[i];
    for (int i = 0; i < n; ++i)
      place[i] ^= t & 1;
  }
}

KERNEL void rows(int n, long m, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 5; ++j)
      f[place[i] * m + j] += v[i * 5 + j];
}

KERNEL void characters(int n, const unsigned char *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    f[place[i]] += v[i];
}

/* A list of its own for each test: of one that changes often nobody keeps an answer. */
static int *places(int n, int most) {
  static int *kept[32], count;
  int *list = kept[count++] = calloc((size_t)n, sizeof *list);
  for (int i = 0; i < n; ++i)
    list[i] = (int)number((unsigned)most);
  list[n - 1] = list[0];
  return list;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333), *list;
  size_t m = 40 * (size_t)n + 4096;
  TYPE *f = example_array(2 * m), *v = f + m;
  example_fill(f, 2 * m);
  for (int i = 0; i < n; ++i)
    v[i] *= i % 3 == 1 ? (TYPE)1e6 : 1;
#define SHOW(what) example_print(what, f, 2 * m)
  list = places(n, n);
  added(n, list, v, f), SHOW("repeats");
  /* What is added lies among the sums. */
  added(n, list, f + n / 2, f), SHOW("overlap");
  added(n, list, f, f), SHOW("itself");
  for (int k = 0; k < 6; ++k) {
    list[k] = (list[k] + 1) % n;
    added(n, list, v, f), SHOW("changed");
  }
  /* The list is as it was once. */
  list[5] = (list[5] + n - 1) % n;
  added(n, list, v, f), SHOW("again");
  changing(n, 5, places(n, n), v, f), SHOW("changing");
  looked_at(n, places(n, n), places(n, n), f), SHOW("looked at");
  list = places(n, n);
  list[3] = (int)m;
  added(n, list, v, f), SHOW("one too large");
  for (int k = 0; k < 2; ++k) {
    list = places(n, n);
    for (int i = 0; i < n; ++i)
      list[i] = k ? (i * 7919) % (30 * n) * (i % 2) : n - 1 - i;
    added(n, list, v, f), SHOW(k ? "far apart" : "different");
    if (!k)
      changing(n, 1, list, v, f), SHOW("different, in steps");
  }
  list = places(n, n);
  for (int i = 0; i < n; ++i)
    list[i] = -list[i];
  added(n, list, v, f + n), SHOW("negative");
  /* Rows that do not reach into each other, and rows that do. */
  list = places(n, 9);
  rows(n, 5, list, v, f), SHOW("rows");
  rows(n, 3, list, v, f), SHOW("rows within rows");
  rows(n, 0, list, v, f), SHOW("one row");
  rows(n, -7, list, v, f + 7 * 9), SHOW("rows backwards");
  list = places(n, n);
  for (int i = 0; i < n; ++i)
    list[i] = n - i;
  rows(n, 6, list, v, f), SHOW("different rows");
  /* Lists of characters may be bytes of the sums, before them, across their ends, or behind them. */
  TYPE *sums = example_array(1024);
  for (int at = 0; at <= 4; ++at) {
    static const int starts[] = {300, 200, 511, 512, 768};
    example_fill(sums, 1024);
    for (int i = 768; i < 1024; ++i)
      sums[i] = 1;
    characters(n < 256 ? n : 256, (const unsigned char *)(sums + starts[at]), v, sums + 256);
    example_print("characters", sums, 1024);
  }
  unsigned char *each = malloc(64);
  for (int i = 0; i < 64; ++i)
    each[i] = (unsigned char)(i * 7);
  characters(64, each, v, sums + 256), example_print("each once", sums, 1024);
  free(each), free(sums), free(f);
  return 0;
}
