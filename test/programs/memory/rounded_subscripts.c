// Subscripts that are rounded from numbers: tables, particles that move and are looked up before, images that are scaled and turned, floors and nearest
// integers, clamped and tested numbers, distances, records; lists of which a rounded number tells where they begin; integers of few bits.
// ARGS: 400 40
// ARGS: 37 5
// ARGS: 1 2
// ARGS: 0 1
// OFFLOAD: partial
// KERNELS: shorts naturals bytes around
// STAYS: chased: what is rounded was stored by the iteration before
#include "example.h"
#include <math.h>

#define KERNEL __attribute__((noinline)) static

struct point {
  TYPE x, y;
  int tag;
};

KERNEL void lookup(int n, const TYPE *x, const TYPE *t, TYPE *y, TYPE scale) {
  for (int i = 0; i < n; i++)
    y[i] = t[(int)(x[i] * scale)];
}

KERNEL void push(int n, TYPE *x, TYPE *v, const TYPE *field, int cells, TYPE dt, TYPE length) {
  for (int p = 0; p < n; p++) {
    TYPE s = x[p] / length * (TYPE)cells;
    int i = (int)s;
    TYPE w = s - (TYPE)i;
    v[p] -= ((1 - w) * field[i] + w * field[(i + 1) % cells]) * dt;
    x[p] += v[p] * dt;
    if (x[p] < 0)
      x[p] += length;
    if (x[p] >= length)
      x[p] -= length;
  }
}

// A type of few bits reaches beyond most tables, on either side.
KERNEL void shorts(int n, const TYPE *x, const TYPE *t, TYPE *y) {
  for (int i = 0; i < n; i++)
    y[i] = t[(short)x[i]];
}

KERNEL void naturals(int n, const TYPE *x, const TYPE *t, TYPE *y) {
  for (int i = 0; i < n; i++)
    y[i] += t[(unsigned short)x[i]];
}

KERNEL void bytes(int n, const TYPE *x, const TYPE *t, TYPE *y) {
  for (int i = 0; i < n; i++)
    y[i] += t[(unsigned char)(x[i] * (TYPE)0.25)];
}

KERNEL void around(int n, const TYPE *x, const TYPE *middle, TYPE *y) {
  for (int i = 0; i < n; i++)
    y[i] += middle[(signed char)(x[i] * (TYPE)0.125 - 4)];
}

KERNEL void chased(int n, TYPE *x, const TYPE *t) {
  for (int i = 1; i < n; i++)
    x[i] = x[i] * (TYPE)0.5 + t[(int)x[i - 1]];
}

KERNEL void ahead(int n, TYPE *x, const TYPE *t) {
  for (int i = 0; i + 1 < n; i++)
    x[i] = x[i] * (TYPE)0.5 + t[(int)x[i + 1]];
}

KERNEL void scaled(int w, int h, int dw, int dh, const TYPE *in, TYPE *out) {
  TYPE sx = (TYPE)w / (TYPE)dw, sy = (TYPE)h / (TYPE)dh;
  for (int y = 0; y < dh; y++)
    for (int x = 0; x < dw; x++) {
      TYPE fx = (TYPE)x * sx, fy = (TYPE)y * sy;
      int x0 = (int)fx, y0 = (int)fy;
      int x1 = x0 + 1 < w ? x0 + 1 : x0, y1 = y0 + 1 < h ? y0 + 1 : y0;
      TYPE a = fx - (TYPE)x0, b = fy - (TYPE)y0;
      out[y * dw + x] = (in[y0 * w + x0] * (1 - a) + in[y0 * w + x1] * a) * (1 - b) + (in[y1 * w + x0] * (1 - a) + in[y1 * w + x1] * a) * b;
    }
}

KERNEL void turned(int w, int h, const TYPE *in, TYPE *out, TYPE c, TYPE s) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      TYPE fx = c * (TYPE)x - s * (TYPE)y + 2, fy = s * (TYPE)x + c * (TYPE)y - 2;
      if (fx >= 0 && fy >= 0 && fx < (TYPE)(w - 1) && fy < (TYPE)(h - 1))
        out[y * w + x] = in[(int)fy * w + (int)fx];
      else
        out[y * w + x] = -1;
    }
}

KERNEL void bins(int n, const TYPE *x, TYPE low, TYPE scale, int count, int *h) {
  for (int i = 0; i < n; i++) {
    int b = (int)((x[i] - low) * scale);
    if (b >= 0 && b < count)
      h[b]++;
  }
}

KERNEL void distances(int n, const struct point *p, TYPE step, TYPE most, int *h) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      TYPE dx = p[i].x - p[j].x, dy = p[i].y - p[j].y;
      TYPE r = (TYPE)sqrt(dx * dx + dy * dy);
      if (r < most)
        h[(int)(r / step)] += p[j].tag;
    }
}

KERNEL void floors(int n, const TYPE *x, const TYPE *t, TYPE *y) {
  for (int i = 0; i < n; i++)
    y[i] = t[(long)floor(x[i]) + 8] + t[(int)ceil(-x[i]) + 80] + t[lround(x[i]) + 9] + t[lrint(x[i]) + 9];
}

KERNEL void clamped(int n, const TYPE *x, int last, const TYPE *t, TYPE *y) {
  for (int i = 0; i < n; i++) {
    TYPE a = (TYPE)fmin(fmax(x[i], 0), last), b = x[i] < 0 ? 0 : x[i] > (TYPE)last ? (TYPE)last : x[i];
    y[i] = t[(int)a] - 2 * t[(unsigned)b];
  }
}

KERNEL void listed(int n, const TYPE *x, const int *list, const TYPE *t, TYPE *y) {
  for (int i = 0; i < n; i++)
    y[i] = t[list[(int)x[i]]];
}

/* The largest number is what a nest before leaves. */
KERNEL void normalised(int n, const TYPE *x, const TYPE *t, TYPE *y) {
  TYPE most = 1;
  for (int i = 0; i < n; i++)
    if (x[i] > most)
      most = x[i];
  for (int i = 0; i < n; i++)
    y[i] = t[(int)(x[i] / most * 37)];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 400), cells = (int)example_arg(argc, argv, 2, 40);
  size_t m = (size_t)n + 8, rest = (size_t)cells * (size_t)cells + 200;
  TYPE *x = example_array(m), *v = example_array(m), *y = example_array(m), *t = example_array(rest), *out = example_array(4 * rest);
  struct point *p = calloc(m, sizeof *p);
  int *h = calloc(300, sizeof *h), *list = calloc(rest, sizeof *list);
  example_fill(x, m);
  example_fill(v, m);
  example_fill(t, rest);
  for (size_t i = 0; i < m; i++) {
    x[i] = (TYPE)(fabs(x[i]) * (TYPE)cells * (TYPE)0.999);
    p[i] = (struct point){x[i], v[i] * 20, (int)i % 5};
  }
  for (size_t i = 0; i < rest; i++)
    list[i] = (int)(example_bits() % rest);
  lookup(n, x, t, y, (TYPE)0.75);
  example_print("lookup", y, m);
  shorts(n, x, t, y);
  naturals(n, x, t, y);
  bytes(n, x, t, y);
  around(n, x, t + 4, y);
  // Above the largest signed number, in a table that has as many elements.
  TYPE *wide = example_array(65536), *large = example_array(m);
  example_fill(wide, 65536);
  for (size_t i = 0; i < m; i++)
    large[i] = 65535 - x[i];
  naturals(n > 1 ? n : 0, large, wide, y);
  example_print("narrow", y, m);
  for (int k = 0; k < 3; k++)
    push(n, x, v, t, cells, (TYPE)0.01, (TYPE)cells);
  example_print("push", x, m);
  ahead(n, x, t);
  example_print("ahead", x, m);
  chased(n, x, t);
  example_print("chased", x, m);
  scaled(cells, cells, 2 * cells, cells / 2 + 1, t, out);
  scaled(cells, cells, cells / 3 + 1, 2 * cells - 1, t, out + rest);
  example_print("scaled", out, 2 * rest);
  turned(cells, cells, t, out, (TYPE)0.8, (TYPE)0.6);
  example_print("turned", out, 2 * rest);
  bins(n, x, 3, (TYPE)0.3, 10, h);
  distances(n, p, (TYPE)0.25, (TYPE)9.5, h + 20);
  floors(n, x, t, y);
  example_print("floors", y, m);
  for (size_t i = 0; i < m; i++)
    v[i] = x[i] * 4 - 30;
  clamped(n, v, cells - 1, t, y);
  example_print("clamped", y, m);
  listed(n, x, list, t, y);
  example_print("listed", y, m);
  normalised(n, x, t, y);
  example_print("normalised", y, m);
  for (int i = 0; i < 300; i++)
    printf("%d ", h[i]);
  printf("\n");
  return 0;
}
