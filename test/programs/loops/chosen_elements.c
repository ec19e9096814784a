// Elements that data chooses, of an array that is read: by a narrow type, clamped, behind comparisons, from one of two sides, at the index of a maximum. The last
// table has no more elements than its indices need, and no bytes behind it.
// ARGS: 33 21
// ARGS: 1 2
// ARGS: 64 70
// OFFLOAD: partial
// STAYS: few: its table points beyond the array's pages
// FALLBACK: memory that the loop may not access is not readable
// KERNELS: table warp bilinear turned lookup upwind across greatest nearest shifted
#include "example.h"
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#define KERNEL __attribute__((noinline)) static

KERNEL void table(size_t n, const unsigned char *in, unsigned char *out, const unsigned char *map) {
  for (size_t i = 0; i < n; ++i)
    out[i] = map[in[i]];
}

KERNEL void few(size_t n, const unsigned char *in, unsigned char *out, const unsigned char *map) {
  for (size_t i = 0; i < n; ++i)
    out[i] = map[in[i]];
}

KERNEL void shifted(int n, unsigned char *in, const unsigned char *map, const signed char *by, const short *numbers, short *out) {
  for (int i = 0; i < n; ++i)
    in[i] = map[(in[i] + 7) & 255];
  for (int i = 0; i < n; ++i)
    out[i] = numbers[by[i] + 128];
}

static int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }

KERNEL void warp(int w, int h, const float *in, float *out, const float *dx, const float *dy) {
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      int sx = clamp((int)((float)x + dx[y * w + x]), 0, w - 1), sy = clamp((int)((float)y + dy[y * w + x]), 0, h - 1);
      out[y * w + x] = in[sy * w + sx];
    }
}

KERNEL void bilinear(int w, int h, const float *in, int to_w, int to_h, float *out) {
  float scale_x = (float)w / (float)to_w, scale_y = (float)h / (float)to_h;
  for (int y = 0; y < to_h; ++y)
    for (int x = 0; x < to_w; ++x) {
      float fx = ((float)x + 0.5f) * scale_x - 0.5f, fy = ((float)y + 0.5f) * scale_y - 0.5f;
      int x0 = (int)floorf(fx), y0 = (int)floorf(fy);
      float ax = fx - (float)x0, ay = fy - (float)y0;
      int x1 = x0 + 1 < w - 1 ? x0 + 1 : w - 1, y1 = y0 + 1 < h - 1 ? y0 + 1 : h - 1;
      x0 = x0 < 0 ? 0 : x0;
      y0 = y0 < 0 ? 0 : y0;
      x1 = x1 < 0 ? 0 : x1;
      y1 = y1 < 0 ? 0 : y1;
      x0 = x0 > w - 1 ? w - 1 : x0;
      y0 = y0 > h - 1 ? h - 1 : y0;
      out[y * to_w + x] = (1 - ay) * ((1 - ax) * in[y0 * w + x0] + ax * in[y0 * w + x1]) +
                          ay * ((1 - ax) * in[y1 * w + x0] + ax * in[y1 * w + x1]);
    }
}

KERNEL void turned(int w, int h, const float *in, float *out, float c, float s) {
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      float fx = c * (float)x - s * (float)y, fy = s * (float)x + c * (float)y, v = 0;
      int ix = (int)floorf(fx), iy = (int)floorf(fy);
      if (ix >= 0 && ix + 1 < w && iy >= 0 && iy + 1 < h)
        v = in[iy * w + ix] + (fx - (float)ix) * in[iy * w + ix + 1] + (fy - (float)iy) * in[(iy + 1) * w + ix];
      out[y * w + x] = v;
    }
}

KERNEL void lookup(int n, int m, const double *x, const double *points, double *y) {
  for (int i = 0; i < n; ++i) {
    double p = x[i] * (m - 1);
    int k = (int)p;
    if (k < 0)
      k = 0;
    if (k > m - 2)
      k = m - 2;
    y[i] = points[k] * (1 - (p - k)) + points[k + 1] * (p - k);
  }
}

KERNEL void upwind(int n, int m, const double *u, const double *q, double *f) {
  for (int j = 0; j < n; ++j)
    for (int i = 2; i < m - 2; ++i) {
      int up, donor, down;
      if (u[j * m + i] > 0) {
        up = i - 2;
        donor = i - 1;
        down = i;
      } else {
        up = i + 1;
        donor = i;
        down = i - 1;
      }
      double a = q[j * m + donor] - q[j * m + up], b = q[j * m + down] - q[j * m + donor];
      f[j * m + i] = u[j * m + i] * (q[j * m + donor] + (a * b > 0 ? 0.5 * fmin(fabs(a), fabs(b)) : 0));
    }
}

KERNEL void across(int n, int m, const double *u, const double *q, double *f) {
  for (int j = 1; j < n - 1; ++j)
    for (int i = 0; i < m; ++i) {
      int donor = u[j * m + i] > 0 ? j - 1 : j, down = u[j * m + i] > 0 ? j : j - 1;
      f[j * m + i] = u[j * m + i] * (q[donor * m + i] + 0.25 * (q[donor * m + i] - q[down * m + i]));
    }
}

KERNEL void greatest(int n, int m, const double *x, int *at) {
  for (int i = 0; i < n; ++i) {
    int best = 0;
    for (int j = 1; j < m; ++j)
      if (x[i * m + j] > x[i * m + best])
        best = j;
    at[i] = best;
  }
}

KERNEL void nearest(int n, int m, const double *x, const double *colours, double *to) {
  for (int i = 0; i < n; ++i) {
    int best = 0;
    double distance = 1e30;
    for (int k = 0; k < m; ++k) {
      double d = (x[i] - colours[k]) * (x[i] - colours[k]);
      if (d < distance) {
        distance = d;
        best = k;
      }
    }
    to[i] = colours[best];
  }
}

int main(int argc, char **argv) {
  int w = (int)example_arg(argc, argv, 1, 33), h = (int)example_arg(argc, argv, 2, 21);
  size_t all = (size_t)w * (size_t)h;
  unsigned char *bytes = malloc(all), *mapped = malloc(all), map[256];
  signed char *by = malloc(all);
  short *numbers = malloc(256 * sizeof *numbers), *shorts = malloc(all * sizeof *shorts);
  float *in = malloc(all * sizeof *in), *dx = malloc(all * sizeof *dx), *dy = malloc(all * sizeof *dy);
  float *out = malloc(4 * all * sizeof *out);
  double *u = example_array(all), *q = example_array(all), *f = example_array(all);
  int *at = malloc((size_t)h * sizeof *at);
  for (int i = 0; i < 256; ++i) {
    map[i] = (unsigned char)(i * 7 + 3);
    numbers[i] = (short)(i * 129);
  }
  for (size_t i = 0; i < all; ++i) {
    bytes[i] = (unsigned char)(256 * example_uniform());
    by[i] = (signed char)(256 * example_uniform() - 128);
    in[i] = (float)example_uniform();
    dx[i] = (float)(20 * example_uniform() - 10);
    dy[i] = (float)(20 * example_uniform() - 10);
    u[i] = example_uniform() - 0.5;
    f[i] = 0;
  }
  example_fill(q, all);
  table(all, bytes, mapped, map);
  printf("table %016llx\n", (unsigned long long)example_hash(mapped, all));
  shifted((int)all, mapped, map, by, numbers, shorts);
  printf("shifted %016llx %016llx\n", (unsigned long long)example_hash(mapped, all),
         (unsigned long long)example_hash(shorts, all * sizeof *shorts));
  warp(w, h, in, out, dx, dy);
  printf("warp %016llx\n", (unsigned long long)example_hash(out, all * sizeof *out));
  bilinear(w, h, in, 2 * w - 1, 2 * h - 1, out);
  printf("bilinear %016llx\n", (unsigned long long)example_hash(out, (size_t)(2 * w - 1) * (size_t)(2 * h - 1) * sizeof *out));
  turned(w, h, in, out, 0.8f, 0.6f);
  printf("turned %016llx\n", (unsigned long long)example_hash(out, all * sizeof *out));
  upwind(h, w, u, q, f);
  example_print("upwind", f, all);
  across(h, w, u, q, f);
  example_print("across", f, all);
  greatest(h, w, q, at);
  printf("greatest %016llx\n", (unsigned long long)example_hash(at, (size_t)h * sizeof *at));
  nearest((int)all, h, u, q, f);
  example_print("nearest", f, all);
  if (w > 1)
    lookup((int)all, w, u, q, f);
  example_print("lookup", f, all);

  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || munmap(pages + page, page))
    return 1;
  unsigned char *last = pages + page - 100;
  for (int i = 0; i < 100; ++i)
    last[i] = (unsigned char)(200 - i);
  for (size_t i = 0; i < all; ++i)
    bytes[i] %= 100;
  few(all, bytes, mapped, last);
  printf("few %016llx\n", (unsigned long long)example_hash(mapped, all));
  return 0;
}
