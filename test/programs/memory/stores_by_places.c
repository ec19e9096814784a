// Stores to elements that lists name, with repeats: the last iteration's stays. Alone, beside sums by another list, under conditions, several members, rows, integers and bytes,
// subscripts of 32 bits; lists that are all different, one too large, that change; values among the elements; elements that the loop also loads; one value for all.
// ARGS: 333
// ARGS: 64
// OFFLOAD: partial
#include "example.h"

#define KERNEL __attribute__((noinline)) static

typedef struct {
  TYPE x, y;
} vector;

/* The lengths of edges: each of two sides stores its own. */
KERNEL void lengths(int n, const int *edge, const int *from, const int *to, const vector *p, TYPE *length) {
  for (int i = 0; i < n; ++i) {
    TYPE x = p[from[i]].x - p[to[i]].x, y = p[from[i]].y - p[to[i]].y;
    length[edge[i]] = x * x + y * y;
  }
}

/* Centres of edges are stored, those of zones added up. */
KERNEL void centres(int n, const int *edge, const int *zone, const int *from, const int *to, const vector *p, vector *e, vector *z) {
  for (int i = 0; i < n; ++i) {
    e[edge[i]].x = (TYPE)0.5 * (p[from[i]].x + p[to[i]].x);
    e[edge[i]].y = (TYPE)0.5 * (p[from[i]].y + p[to[i]].y);
    z[zone[i]].x += p[from[i]].x;
    z[zone[i]].y += p[from[i]].y;
  }
}

KERNEL void stored(int n, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    f[place[i]] = v[i] * 3;
}

KERNEL void chosen(int n, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    if (v[i] > (TYPE)0.4)
      f[place[i]] = v[i];
}

KERNEL void either(int n, const int *place, const TYPE *v, TYPE *f, TYPE *g) {
  for (int i = 0; i < n; ++i)
    if (v[i] > (TYPE)0.4)
      f[place[i]] = v[i];
    else
      g[place[i]] = v[i] * 2;
}

KERNEL void both(int n, const int *a, const int *b, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i) {
    f[a[i]] = v[i];
    f[b[i]] = v[i] + 1;
  }
}

KERNEL void twice(int n, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i) {
    f[place[i]] = v[i];
    if (v[i] < (TYPE)0.3)
      f[place[i]] = v[i] * 5;
  }
}

KERNEL void rows(int n, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < 6; ++c)
      f[place[i] * 6 + c] = v[i * 6 + c];
}

KERNEL void through(int n, const int (*place)[4], const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 4; ++k)
      f[place[i][k]] = v[i] * (TYPE)k;
}

KERNEL void row32(unsigned n, unsigned m, const unsigned *place, const TYPE *v, TYPE *f) {
  for (unsigned i = 0; i < n; ++i)
    f[place[i] * m + 3] = v[i];
}

KERNEL void numbers(int n, const int *place, int *last, unsigned char *low) {
  for (int i = 0; i < n; ++i) {
    last[place[i]] = i;
    low[place[i]] = (unsigned char)(i * 7);
  }
}

KERNEL void marks(int n, const int *place, int *mark) {
  for (int i = 0; i < n; ++i)
    mark[place[i]] = 1;
}

KERNEL void moved(int n, const int *from, const int *to, TYPE *f) {
  for (int i = 0; i < n; ++i)
    f[to[i]] = f[from[i]] + 1;
}

KERNEL void replaced(int n, const int *place, const TYPE *v, TYPE *f, TYPE *before) {
  for (int i = 0; i < n; ++i) {
    before[i] = f[place[i]];
    f[place[i]] = v[i];
  }
}

KERNEL void in_steps(int n, int count, const int *place, TYPE *v, TYPE *f) {
  for (int t = 0; t < count; ++t) {
    for (int i = 0; i < n; ++i)
      f[place[i]] = v[i] + (TYPE)t;
    for (int i = 0; i < n; ++i)
      v[i] = v[i] * (TYPE)0.5 + f[i];
  }
}

static unsigned number(unsigned most) {
  static unsigned long long state = 7;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % most;
}

static int *list(int n, int most) {
  int *all = calloc((size_t)n + 1, sizeof *all);
  for (int i = 0; i < n; ++i)
    all[i] = (int)number((unsigned)most);
  return all;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333), places = n / 2 + 1;
  size_t m = 8 * (size_t)n + 64;
  TYPE *f = example_array(m), *g = example_array(m), *v = example_array(m);
  int *edge = list(n, places), *zone = list(n, places), *from = list(n, n), *to = list(n, n), *four = list(4 * n, n);
  int *last = calloc(m, sizeof *last);
  unsigned char *low = calloc(m, 1);
  example_fill(f, m), example_fill(g, m), example_fill(v, m);
#define SHOW(what) example_print(what, f, m), example_print(what, g, m)
  lengths(n, edge, from, to, (vector *)v, f), SHOW("lengths");
  centres(n, edge, zone, from, to, (vector *)v, (vector *)f, (vector *)g), SHOW("centres");
  stored(n, edge, v, f), SHOW("stored");
  edge[n / 2] = edge[0], edge[n - 1] = 3;
  stored(n, edge, v, f), SHOW("changed");
  chosen(n, edge, v, f), SHOW("chosen");
  either(n, edge, v, f, g), SHOW("either");
  both(n, edge, zone, v, f), SHOW("both");
  twice(n, edge, v, f), SHOW("twice");
  rows(n, edge, v, f), SHOW("rows");
  through(n, (const int(*)[4])four, v, f), SHOW("through");
  row32((unsigned)n, 5, (const unsigned *)edge, v, f), SHOW("row32");
  numbers(n, edge, last, low), marks(n, zone, last);
  for (size_t i = 0; i < m; ++i)
    f[i] += (TYPE)last[i] + low[i];
  SHOW("numbers");
  moved(n, from, edge, f), SHOW("moved");
  replaced(n, edge, v, f, g), SHOW("replaced");
  in_steps(n, 5, edge, v, f), SHOW("in steps");
  /* Values lie among the elements. */
  stored(n, edge, f + 2, f), SHOW("overlap");
  for (int i = 0; i < n; ++i)
    edge[i] = n - 1 - i;
  stored(n, edge, v, f), SHOW("different");
  replaced(n, edge, v, f, g), SHOW("replaced, all different");
  edge[2] = (int)m - 1, edge[7] = (int)m - 1;
  stored(n, edge, v, f), SHOW("far");
  free(f), free(g), free(v), free(edge), free(zone), free(from), free(to), free(four), free(last), free(low);
  return 0;
}
