// Floating-point sums into elements that lists name, with repeats, whose order counts: differences, fused products, two lists and three, a loop through a part of a list, rows of
// elements, lists of long integers, bytes and members of records, several steps over one list.
// ARGS: 333
// ARGS: 1500
// ARGS: 0
// OFFLOAD: yes
// KERNELS: added taken fused flux triangles corners rows longs bytes members steps lower
#include "example.h"

#define KERNEL __attribute__((noinline)) static

static unsigned number(unsigned most) {
  static unsigned long long state = 7;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % most;
}

KERNEL void added(int n, const int *restrict place, const TYPE *restrict v, TYPE *restrict f) {
  for (int i = 0; i < n; ++i)
    f[place[i]] += v[i];
}

KERNEL void taken(long n, const int *place, const TYPE *v, TYPE *f) {
  for (long i = 0; i < n; ++i)
    f[place[i] + 2] -= v[i] * 3;
}

KERNEL void fused(int n, const int *place, const int *from, const TYPE *v, const TYPE *x, TYPE *f) {
#pragma clang fp contract(on)
  for (int i = 0; i < n; ++i)
    f[place[i]] += v[i] * x[from[i]];
}

KERNEL void flux(int n, const int *left, const int *right, const TYPE *u, const TYPE *area, TYPE *f) {
  for (int e = 0; e < n; ++e) {
    int a = left[e], b = right[e];
    TYPE through = area[e] * (u[a] - u[b]) + u[a];
    f[a] -= through;
    f[b] += through;
  }
}

KERNEL void triangles(int n, const int (*corner)[3], const TYPE *u, TYPE *f) {
  for (int e = 0; e < n; ++e) {
    TYPE all = u[corner[e][0]] + u[corner[e][1]] * 2 + u[corner[e][2]];
    f[corner[e][0]] += all;
    f[corner[e][1]] += all * 3;
    f[corner[e][2]] -= all;
  }
}

KERNEL void corners(int n, const int (*node)[4], const TYPE *volume, const TYPE (*k)[4], TYPE *f) {
  for (int e = 0; e < n; ++e) {
    TYPE part = volume[e] / 4;
    for (int j = 0; j < 4; ++j)
      f[node[e][j]] += part * k[e][j];
  }
}

KERNEL void rows(int n, const int *place, const TYPE (*v)[16], TYPE (*f)[16]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 16; ++j)
      f[place[i]][j] += v[i][j];
}

KERNEL void longs(long n, const long *place, const TYPE *v, TYPE *f) {
  for (long i = n - 1; i >= 0; --i)
    f[place[i]] += v[i];
}

KERNEL void bytes(int n, const unsigned char *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    f[place[i]] += v[i];
}

struct record {
  TYPE charge;
  unsigned cell;
};

KERNEL void members(int n, const struct record *r, TYPE *f) {
  for (int i = 0; i < n; ++i)
    f[r[i].cell] += r[i].charge;
}

KERNEL void steps(int n, int count, const int *place, const TYPE *v, TYPE *f) {
  for (int t = 0; t < count; ++t)
    for (int i = 0; i < n; ++i)
      f[place[i]] += v[i];
}

/* Elements in front of the pointer. */
KERNEL void lower(int n, const int *place, const TYPE *v, TYPE *f) {
  for (int i = 0; i < n; ++i)
    f[place[i] - 40] += v[i];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 333), places = n / 4 + 60;
  size_t m = 16 * (size_t)(places + n) + 64;
  TYPE *f = example_array(m), *v = example_array(m), *u = example_array(m);
  int *list = calloc(4 * (size_t)n + 4, sizeof *list), *other = calloc((size_t)n + 1, sizeof *other);
  long *wide = calloc((size_t)n + 1, sizeof *wide);
  unsigned char *narrow = calloc((size_t)n + 1, 1);
  struct record *r = calloc((size_t)n + 1, sizeof *r);
  example_fill(f, m), example_fill(v, m), example_fill(u, m);
  for (int i = 0; i < n; ++i) {
    v[i] *= i % 3 == 1 ? (TYPE)1e6 : 1;
    other[i] = (int)(number((unsigned)places));
    wide[i] = other[i], narrow[i] = (unsigned char)(i * 37 % 251);
    r[i].charge = v[i], r[i].cell = (unsigned)(i * i % places);
  }
  for (int i = 0; i < 4 * n; ++i)
    list[i] = (int)(number((unsigned)places));
#define RUN(name, ...) name(n, __VA_ARGS__), example_print(#name, f, m)
  RUN(added, list, v, f);
  RUN(taken, list, v, f);
  RUN(fused, list, other, v, u, f);
  RUN(flux, list, other, u, v, f);
  RUN(triangles, (void *)list, u, f);
  RUN(corners, (void *)list, u, (void *)v, f);
  RUN(rows, list, (void *)v, (void *)f);
  RUN(longs, wide, v, f);
  RUN(bytes, narrow, v, f);
  RUN(members, r, f);
  RUN(steps, 4, other, v, f);
  RUN(lower, list, v, f + 40);
  free(f), free(v), free(u), free(list), free(other), free(wide), free(narrow), free(r);
  return 0;
}
