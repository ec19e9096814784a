// Updates of elements that lists name whose version by places must not run, or not for these arguments: subscripts of 32 bits that wrap, components and rows that reach into each
// other's places, arrays that overlap or are one, a list that ends where a page does, integers that nobody uses, one update that another list's is made of.
// ARGS: 333
// ARGS: 64
// OFFLOAD: partial
#include <sys/mman.h>

#include "example.h"

#define KERNEL __attribute__((noinline)) static

static unsigned number(unsigned most) {
  static unsigned long long state = 7;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % most;
}

KERNEL void rows(unsigned n, unsigned m, unsigned k, const unsigned *place, const TYPE *v, TYPE *f) {
  for (unsigned i = 0; i < n; ++i)
    f[place[i] * m + k] += v[i];
}

KERNEL void columns(unsigned n, unsigned count, unsigned m, unsigned k, const unsigned *place, const TYPE *v, TYPE *f) {
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < count; ++j)
      f[place[i] * m + k + j] += v[i];
}

KERNEL void pairs(int n, long m, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i) {
    f[place[i] * m] += v[i];
    f[place[i] * m + 1] += v[i] * 3;
  }
}

KERNEL void two(int n, const int *place, const TYPE *v, TYPE *f, TYPE *g) {
  for (int i = 0; i < n; ++i) {
    f[place[i]] += v[i];
    g[place[i]] *= v[i];
  }
}

KERNEL void chosen(int n, const int *place, const int *is, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    if (is[i])
      f[place[i]] += v[i];
}

KERNEL void inside(int n, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    if (place[i] >= 0)
      f[place[i]] += v[i];
}

KERNEL void moved(int n, const int *from, const int *to, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i) {
    TYPE part = f[from[i]] * (TYPE)0.5;
    f[from[i]] -= part;
    f[to[i]] += part + v[i];
  }
}

KERNEL void turned(int n, const int *from, const int *to, const TYPE *v, TYPE *f, TYPE *g) {
  for (int i = 0; i < n; ++i) {
    f[from[i]] += v[i];
    g[to[i]] += v[i] * 2;
    g[from[i]] *= v[i];
    f[to[i]] -= 1;
  }
}

KERNEL void counted(int n, int *place, const TYPE *v, TYPE *f, int *count) {
  for (int i = 0; i < n; ++i) {
    f[place[i]] += v[i];
    count[place[i]] += 1;
  }
}

static int *places(int n, int most) {
  static int *kept[32], count;
  int *list = kept[count++] = calloc((size_t)n, sizeof *list);
  for (int i = 0; i < n; ++i)
    list[i] = (int)number((unsigned)most);
  list[n - 1] = list[0];
  return list;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333), *list = places(n, 60), *other = places(n, 60), *is = places(n, 2), *later = places(n, 1);
  size_t m = 8192;
  TYPE *f = example_array(m), *v = example_array(m);
  example_fill(f, m), example_fill(v, m);
  for (int i = 0; i < n; ++i)
    v[i] *= i % 3 == 1 ? (TYPE)1e6 : 1;
#define SHOW(what) example_print(what, f, m)
  /* Rows one after the other; products that wrap; sums, and columns, that do. */
  rows((unsigned)n, 7, 3, (unsigned *)list, v, f), SHOW("rows");
  rows((unsigned)n, 0xffffffffu, 100, (unsigned *)list, v, f), SHOW("rows that go down");
  for (int i = 0; i < n; ++i)
    later[i] = 2 + list[i];
  rows((unsigned)n, 3, 0xfffffffau, (unsigned *)later, v, f), SHOW("sums that wrap");
  columns((unsigned)n, 3, 5, 0, (unsigned *)list, v, f), SHOW("columns");
  columns((unsigned)n, 6, 5, 0, (unsigned *)list, v, f), SHOW("columns in other rows");
  columns((unsigned)n, 3, 5, 0xfffffff6u, (unsigned *)later, v, f), SHOW("columns that wrap");
  pairs(n, 3, list, v, f), SHOW("pairs");
  pairs(n, 2, list, v, f), SHOW("pairs side by side");
  pairs(n, 1, list, v, f), SHOW("pairs in each other");
  pairs(n, -2, list, v, f + 200), SHOW("pairs backwards");
  pairs(n, 0, list, v, f), SHOW("one pair");
  two(n, list, v, f, f + 4096), SHOW("two arrays");
  two(n, list, v, f, f), SHOW("one array");
  two(n, list, v, f, f + 1), SHOW("one array, shifted");
  two(n, list, v, f + 59, f), SHOW("one element of both");
  chosen(n, list, is, v, f), SHOW("chosen");
  /* Integers that nobody uses may lead anywhere, and need not be there. */
  for (int i = 0; i < n; ++i)
    if (!is[i])
      list[i] = i % 2 ? 1 << 30 : -(1 << 30);
  chosen(n, list, is, v, f), SHOW("some are not used");
  size_t page = 65536;
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE))
    return 1;
  int *end = (int *)(pages + page) - n / 2;
  for (int i = 0; i < n; ++i)
    is[i] = i < n / 2 && i % 3;
  for (int i = 0; i < n / 2; ++i)
    end[i] = (int)number(50);
  chosen(n, end, is, v, f), SHOW("some are not there");
  list = places(n, 90);
  for (int i = 0; i < n; ++i)
    list[i] -= 20;
  inside(n, list, v, f + 100), SHOW("inside");
  moved(n, other, places(n, 60), v, f), SHOW("moved");
  turned(n, other, places(n, 60), v, f, f + 4096), SHOW("turned");
  /* A counter of the list's own integers. */
  list = calloc(4096, sizeof *list);
  for (int i = 0; i < 4096; ++i)
    list[i] = (int)number(60);
  counted(n, list, v, f, list + 2048), SHOW("counted");
  counted(n, list, v, f, list + n - 30), SHOW("counted in the list");
  counted(n, list, v, f, list), SHOW("counted at its beginning");
  /* Nothing is named twice. */
  for (int i = 0; i < n; ++i)
    list[i] = n - i, is[i] = i % 3;
  rows((unsigned)n, 7, 3, (unsigned *)list, v, f);
  columns((unsigned)n, 3, 5, 0, (unsigned *)list, v, f);
  pairs(n, 3, list, v, f);
  two(n, list, v, f, f + 4096);
  chosen(n, list, is, v, f);
  inside(n, list, v, f);
  counted(n, list, v, f, list + 2048), SHOW("different");
  return 0;
}
