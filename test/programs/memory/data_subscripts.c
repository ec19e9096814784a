// Subscripts and bounds that are data, as whole programs have them: a product with a sparse matrix, rows by tables of neighbours, a gather of global arrays, corners of elements, a list of a region, a histogram
// of bytes, particles in boxes that list their neighbours; and all of them with data that the device must refuse or get right: an index behind the elements that there are, a repeat, arrays that overlap.
// ARGS: 120
// ARGS: 333
// OFFLOAD: partial
#include "example.h"

#define KERNEL __attribute__((noinline)) static

enum { GLOBAL = 3200 };

static TYPE left[GLOBAL], right[GLOBAL + 1];
static int order[GLOBAL];

typedef struct {
  int first, count, near[6];
} box;

KERNEL void product(int n, const int *start, const int *column, const TYPE *a, const TYPE *x, TYPE *y) {
  for (int i = 0; i < n; ++i) {
    TYPE s = 0;
    for (int k = start[i]; k < start[i + 1]; ++k)
      s += a[k] * x[column[k]];
    y[i] = s;
  }
}

KERNEL void diffused(int rows, int columns, const int *up, const int *down, const TYPE *u, TYPE *d) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      d[i * columns + j] = u[up[i] * columns + j] + u[down[i] * columns + j] - 2 * u[i * columns + j];
}

KERNEL void gathered(void) {
  for (int i = 0; i < GLOBAL; ++i)
    left[i] = 2 * right[order[i]];
}

KERNEL void corners(int n, const int *node, const TYPE *x, const TYPE *p, TYPE *out) {
  for (int e = 0; e < n; ++e) {
    TYPE c[8], s = 0;
    for (int k = 0; k < 8; ++k)
      c[k] = x[node[8 * e + k]];
    for (int k = 0; k < 8; ++k)
      s += c[k] * p[e];
    out[e] = s / 8;
  }
}

KERNEL void region(int n, const int *list, const TYPE *p, const TYPE *e, TYPE *q) {
  for (int i = 0; i < n; ++i) {
    int z = list[i];
    q[z] = p[z] * e[z] + 1;
  }
}

KERNEL void histogram(int n, const unsigned char *p, int *h) {
  for (int i = 0; i < n; ++i)
    ++h[p[i]];
}

KERNEL void boxes(int n, const box *b, const TYPE *x, TYPE *f) {
  for (int l = 0; l < n; ++l)
    for (int k = 0; k < b[l].count; ++k) {
      int q = k ? b[l].near[k - 1] : l;
      for (int i = 0; i < 10; ++i)
        for (int j = 0; j < 10; ++j) {
          TYPE d = x[b[l].first + i] - x[b[q].first + j];
          f[b[l].first + i] += 1 / (1 + d * d);
        }
    }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 120);
  size_t m = 32 * (size_t)n + 64;
  TYPE *x = example_array(m), *y = example_array(2 * m), *a = example_array(m);
  int *start = calloc(m, sizeof *start), *index = calloc(m, sizeof *index), *h = calloc(256, sizeof *h);
  unsigned char *bytes = calloc(m, 1);
  box *b = calloc((size_t)n, sizeof *b);
  example_fill(x, m), example_fill(y, 2 * m), example_fill(a, m), example_fill(right, GLOBAL + 1);
#define SHOW(what) example_print(what, y, 2 * m)
  /* The second time with what spoils it. */
  for (int bad = 0; bad < 2; ++bad) {
    for (int i = 0; i < n; ++i)
      start[i + 1] = start[i] + i % 7;
    for (size_t i = 0; i < m; ++i)
      index[i] = (int)(i * 7919 % (size_t)n);
    index[3] = bad ? n : 1;
    product(n, start, index, a, x, y), SHOW("product");
    if (bad)
      product(n, start, index, a, y + 1, y), SHOW("product, in place");
    index[2] = bad ? n + 1 : 2;
    diffused(n, 8, index, index + 5, x, y), SHOW("diffused");
    if (bad)
      diffused(n, 8, index, index + 5, y + 16, y), SHOW("diffused, in place");
    for (int i = 0; i < GLOBAL; ++i)
      order[i] = i * 31 % GLOBAL + (bad && i == 77);
    gathered();
    example_print("gathered", left, GLOBAL);
    corners(n, index, x, a, y), SHOW("corners");
    for (int i = 0; i < n; ++i)
      index[i] = n - 1 - i;
    if (bad)
      index[n / 2] = index[1];
    region(n, index, x, a, y), SHOW("region");
    if (bad)
      region(n, index, y + 3, a, y), SHOW("region, in place");
    for (size_t i = 0; i < m; ++i)
      bytes[i] = (unsigned char)(i * i % (bad ? 256 : 200));
    histogram((int)m, bytes, h);
    if (bad)
      histogram(100, (unsigned char *)h + 7, h);
    for (int i = 0; i < 256; ++i)
      y[i] += (TYPE)(h[i] % 1000);
    SHOW("histogram");
    for (int l = 0; l < n; ++l) {
      b[l].first = bad && l == 3 ? 10 * l - 4 : 10 * l, b[l].count = 1 + l % 6;
      for (int k = 0; k < 6; ++k)
        b[l].near[k] = (l * 5 + k * 11) % n;
    }
    boxes(n, b, x, y), SHOW("boxes");
    if (bad)
      boxes(n, b, y, y), SHOW("boxes, in place");
  }
  free(x), free(y), free(a), free(start), free(index), free(h), free(bytes), free(b);
  return 0;
}
