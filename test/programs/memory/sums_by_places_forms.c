// Updates of elements that lists name, with repeats, in forms that programs write them in: subscripts of 32 bits, members of records, several components and arrays, two lists of
// vectors, conversions, conditions on data and on the list, products, minima and maxima, counters of bytes, offsets.
// ARGS: 333
// ARGS: 1500
// ARGS: 0
// OFFLOAD: yes
// KERNELS: row32 row_columns unsigned_rows pointer_rows three members mixed converted widened shifted chosen chosen_by_value either largest limited multiplied bytes two_arrays counted vectors distances
#include "example.h"

#define KERNEL __attribute__((noinline)) static

typedef struct {
  TYPE x, y, z;
} vector;

typedef struct {
  float mass;
  TYPE x, y;
  int id;
} body;

static unsigned number(unsigned most) {
  static unsigned long long state = 7;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % most;
}

KERNEL void row32(int n, int m, int k, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    f[place[i] * m + k] += v[i];
}

KERNEL void row_columns(int n, int m, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < m; ++k)
      f[place[i] * m + k] += v[i * m + k];
}

KERNEL void unsigned_rows(unsigned n, unsigned m, unsigned k, const unsigned *place, const TYPE *v, TYPE *f) {
  for (unsigned i = 0; i < n; ++i)
    f[place[i] * m + k] += v[i];
}

KERNEL void pointer_rows(int n, int m, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i) {
    TYPE *row = f + (long)place[i] * m;
    for (int k = 0; k < m; ++k)
      row[k] += v[(long)i * m + k];
  }
}

KERNEL void three(int n, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i) {
    f[3 * place[i]] += v[3 * i];
    f[3 * place[i] + 1] += v[3 * i + 1];
    f[3 * place[i] + 2] -= v[3 * i + 2];
  }
}

KERNEL void members(int n, const int *place, const TYPE *v, vector *p) {
  for (int i = 0; i < n; ++i) {
    p[place[i]].x += v[i];
    p[place[i]].z -= v[i] * 3;
  }
}

KERNEL void mixed(int n, const int *place, const TYPE *v, body *p) {
  for (int i = 0; i < n; ++i) {
    p[place[i]].y += v[i] * v[i];
    p[place[i]].mass += v[i];
  }
}

KERNEL void converted(int n, const int *place, const double *v, float *f) {
  for (int i = 0; i < n; ++i)
    f[place[i]] += v[i];
}

KERNEL void widened(int n, const int *place, const float *v, double *f) {
  for (int i = 0; i < n; ++i)
    f[place[i]] -= v[i];
}

KERNEL void shifted(int n, int by, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    f[place[i + by] - 1] += v[i];
}

KERNEL void chosen(int n, const int *place, const int *is, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    if (is[i])
      f[place[i]] += v[i];
}

KERNEL void chosen_by_value(int n, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    if (v[i] > 0)
      f[place[i]] += v[i];
}

KERNEL void either(int n, const int *place, const int *is, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i) {
    if (is[i])
      f[place[i]] += v[i];
    else
      f[place[i]] *= v[i];
  }
}

KERNEL void largest(int n, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    if (v[i] > f[place[i]])
      f[place[i]] = v[i];
}

KERNEL void limited(int n, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i) {
    TYPE next = f[place[i]] + v[i];
    f[place[i]] = next > 1 ? (TYPE)1 : next;
  }
}

KERNEL void multiplied(int n, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    f[place[i]] *= v[i];
}

KERNEL void bytes(int n, const int *place, unsigned char *f) {
  for (int i = 0; i < n; ++i)
    ++f[place[i]];
}

KERNEL void two_arrays(int n, const int *place, const TYPE *v, TYPE *f, TYPE *g) {
  for (int i = 0; i < n; ++i) {
    f[place[i]] += v[i];
    g[2 * place[i]] += v[i] * v[i];
  }
}

KERNEL void counted(int n, const int *place, const TYPE *v, TYPE *f, int *count) {
  for (int i = 0; i < n; ++i) {
    f[place[i]] += v[i];
    ++count[place[i]];
  }
}

KERNEL void vectors(int n, const int *from, const int *to, const TYPE *v, vector *f) {
  for (int i = 0; i < n; ++i) {
    f[from[i]].x += v[i], f[from[i]].y += 2 * v[i], f[from[i]].z += 3 * v[i];
    f[to[i]].x -= v[i], f[to[i]].y -= 2 * v[i], f[to[i]].z -= 3 * v[i];
  }
}

KERNEL void distances(int n, const int *from, const int *to, const vector *p, vector *f) {
  for (int i = 0; i < n; ++i) {
    int a = from[i], b = to[i];
    TYPE x = p[a].x - p[b].x, y = p[a].y - p[b].y, s = 1 / (1 + x * x + y * y);
    f[a].x += s * x;
    f[a].y += s * y;
    f[b].x -= s * x;
    f[b].y -= s * y;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333), places = n / 4 + 60;
  size_t m = 16 * (size_t)(places + n) + 64;
  TYPE *f = example_array(m), *g = example_array(m), *v = example_array(m);
  int *list = calloc((size_t)n + 8, sizeof *list), *other = calloc((size_t)n + 8, sizeof *other), *is = calloc((size_t)n + 1, sizeof *is);
  int *counts = calloc(m, sizeof *counts);
  double *wide = calloc(m, sizeof *wide);
  float *small = calloc(m, sizeof *small);
  body *bodies = calloc(m, sizeof *bodies);
  example_fill(f, m), example_fill(g, m), example_fill(v, m);
  for (size_t i = 0; i < m; ++i)
    wide[i] = v[i] / 3, small[i] = (float)(v[i] / 7), bodies[i].mass = small[i], bodies[i].y = v[i];
  for (int i = 0; i < n + 8; ++i)
    list[i] = 1 + (int)number((unsigned)places), other[i] = 1 + (int)number((unsigned)places);
  for (int i = 0; i < n; ++i)
    is[i] = (int)number(2), v[i] *= i % 3 == 1 ? (TYPE)1e6 : 1;
#define RUN(name, ...) name(n, __VA_ARGS__), example_print(#name, f, m)
  RUN(row32, 5, 2, list, v, f);
  RUN(row_columns, 4, list, v, f);
  RUN(unsigned_rows, 5, 3, (unsigned *)list, v, f);
  RUN(pointer_rows, 4, list, v, f);
  RUN(three, list, v, f);
  RUN(members, list, v, (vector *)f);
  mixed(n, list, v, bodies);
  for (size_t i = 0; i < m; ++i)
    f[i] += bodies[i].y + (TYPE)bodies[i].mass;
  converted(n, list, wide, small), widened(n, list, small, wide);
  for (size_t i = 0; i < m; ++i)
    f[i] += (TYPE)wide[i] + (TYPE)small[i];
  RUN(shifted, 5, list, v, f);
  RUN(chosen, list, is, v, f);
  RUN(chosen_by_value, list, v, f);
  RUN(either, list, is, v, f);
  RUN(largest, list, v, f);
  RUN(limited, list, v, f);
  RUN(multiplied, list, v, f);
  bytes(n, list, (unsigned char *)counts);
  RUN(two_arrays, list, v, f, g);
  RUN(counted, list, v, f, counts);
  for (size_t i = 0; i < m; ++i)
    f[i] += g[i] + (TYPE)counts[i];
  RUN(vectors, list, other, v, (vector *)f);
  RUN(distances, list, other, (vector *)v, (vector *)f);
  free(f), free(g), free(v), free(list), free(other), free(is), free(counts), free(wide), free(small), free(bodies);
  return 0;
}
