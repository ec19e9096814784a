// Quotients and remainders of a counter by lengths that are arguments: rows of a flat array, its transpose, four dimensions in one counter, dimensions in another order, each element several times,
// sums of rows; unsigned and 64 bits wide; counters that go down; quotients by squares; elements that are no whole number of rows, and lengths that are negative, which stay on the host.
// ARGS: 1 1 1
// ARGS: 33 7 5
// ARGS: 64 32 3
// OFFLOAD: yes
// KERNELS: bias transpose planes permute upsample row_sums wide gates copies normalise down squares uneven negative
#include "example.h"

#define NOINLINE __attribute__((noinline)) static

NOINLINE void bias(int w, int h, const float *x, const float *b, float *y) {
  for (int k = 0; k < w * h; k++)
    y[k] = x[k] + b[k % w];
}

NOINLINE void transpose(int w, int h, const float *x, float *y) {
  int n = w * h;
  for (int k = 0; k < n; k++) {
    int i = k / w, j = k % w;
    y[j * h + i] = x[k];
  }
}

/* Planes of an image change places, its columns too. */
NOINLINE void planes(int w, int h, int c, const float *x, float *y) {
  for (int k = 0; k < 2 * c * h * w; k++) {
    int j = k % w, i = k / w % h, p = k / (w * h) % c, image = k / (w * h * c);
    y[((image * c + (c - 1 - p)) * h + i) * w + (w - 1 - j)] = x[k];
  }
}

/* From batches of time steps of heads to batches of heads of time steps; the width of all heads is an argument, too. */
NOINLINE void permute(int batches, int steps, int width, int head, const float *x, float *q) {
  for (int k = 0; k < batches * steps * width; k++) {
    int b = k / (width * steps), rest = k % (width * steps), h = rest / (steps * head);
    rest %= steps * head;
    int t = rest / head, d = rest % head;
    q[k] = x[b * steps * 3 * width + t * 3 * width + width + h * head + d];
  }
}

NOINLINE void upsample(int h, int w, int by, const float *x, float *y) {
  for (int i = 0; i < h * by; i++)
    for (int j = 0; j < w * by; j++)
      y[i * (w * by) + j] = x[i / by * w + j / by];
}

NOINLINE void row_sums(int w, int h, const int *x, int *sums) {
  for (int k = 0; k < w * h; k++)
    sums[k / w] += x[k];
}

NOINLINE void wide(size_t w, size_t h, const float *x, const float *b, float *y) {
  for (size_t k = 0; k < h * w; k++)
    y[k % w * h + k / w] = x[k] * b[k / w];
}

NOINLINE void gates(int hidden, int batch, const float *x, const float *b, float *y) {
  int n = batch * hidden;
  for (int k = 0; k < n; k++) {
    int at = k % hidden + 4 * (k / hidden) * hidden;
    float g[4];
    for (int i = 0; i < 4; i++)
      g[i] = x[i * hidden + at] + b[i * hidden + k % hidden];
    y[k] = g[0] * g[1] + g[2] * g[3];
  }
}

/* The mean of a group of channels, with another loop over its elements. */
NOINLINE void normalise(int groups, int channels, int w, const float *x, const float *scale, float *y) {
  int n = channels * w;
  for (int g = 0; g < groups; g++) {
    float sum = 0;
    for (int i = 0; i < n; i++)
      sum += x[g * n + i];
    for (int i = 0; i < n; i++)
      y[g * n + i] = (x[g * n + i] - sum / (float)n) * scale[g * channels + i / w];
  }
}

/* Rows as long as a product of which nothing else is known. */
NOINLINE void copies(int w, int h, int c, const float *x, float *y) {
  int all = w * h;
  for (int k = 0; k < c * all; k++)
    y[k] = x[k % all] * (float)(k / all + 1);
}

NOINLINE void down(int n, int w, const float *x, const float *b, float *y) {
  for (int k = n - 1; k >= 0; k--)
    y[k] = x[k] - b[k % w] * b[k / w];
}

NOINLINE void squares(int n, int w, const float *x, const float *b, float *y) {
  for (int k = 0; k < n; k++)
    y[k] = x[k] + b[k / (w * w)] * b[k / w];
}

/* Counters that are narrower than their quotients. */
NOINLINE void narrow(unsigned short n, unsigned short w, const float *x, const float *b, float *y) {
  for (unsigned short k = 0; k < n; k++)
    y[k] = x[k] + b[k % w] - b[k / w];
}

NOINLINE void uneven(int n, int w, const float *x, const float *b, float *y) {
  for (int k = 0; k < n; k++)
    y[k] = x[k] + b[k % w];
}

NOINLINE void negative(int n, int w, const float *x, const float *b, float *y) {
  for (int k = 0; k < n; k++)
    y[k] = x[k] + b[k % w - k / w];
}

static void show(const char *name, const void *y, size_t bytes) { printf("%s %016llx\n", name, (unsigned long long)example_hash(y, bytes)); }

static void all(int w, int h, int c, size_t bytes, const float *x, const float *b, const int *numbers, float *y) {
  bias(w, h, x, b, y);
  show("bias", y, bytes);
  transpose(w, h, x, y);
  show("transpose", y, bytes);
  planes(w, h, c, x, y);
  show("planes", y, bytes);
  permute(2, h, w * c, w, x, y);
  show("permute", y, bytes);
  upsample(h, w, c, x, y);
  show("upsample", y, bytes);
  row_sums(w, h, numbers, (int *)y);
  show("row_sums", y, bytes);
  wide((size_t)w, (size_t)h, x, b, y);
  show("wide", y, bytes);
  gates(w, h, x, b, y);
  show("gates", y, bytes);
  narrow((unsigned short)(w * h), (unsigned short)w, x, b, y);
  show("narrow", y, bytes);
  copies(w, h, c, x, y);
  show("copies", y, bytes);
  normalise(c, h, w, x, b, y);
  show("normalise", y, bytes);
  for (int more = 0; more < 2; more++) {
    down(w * h + more, w, x, b, y);
    show("down", y, bytes);
    squares(h * c + more, c, x, b, y);
    show("squares", y, bytes);
  }
  for (int more = 0; more < 3; more++) {
    uneven(w * h + more, w + 1 - (more == 0), x, b, y);
    show("uneven", y, bytes);
  }
  for (int sign = -1; sign <= 1; sign += 2) {
    negative(w * h, sign * w, x, b + 6 * w * h, y);
    show("negative", y, bytes);
  }
}

int main(int argc, char **argv) {
  int w = (int)example_arg(argc, argv, 1, 33), h = (int)example_arg(argc, argv, 2, 7), c = (int)example_arg(argc, argv, 3, 5);
  int n = 6 * c * c * c * (h + 1) * (w + 1);
  size_t bytes = sizeof(float) * (size_t)n;
  float *x = malloc(bytes), *b = malloc(bytes), *y = calloc(bytes, 1);
  int *numbers = malloc(bytes);
  for (int k = 0; k < n; k++) {
    x[k] = (float)example_uniform();
    b[k] = (float)example_uniform();
    numbers[k] = (int)(1000 * example_uniform());
  }
  all(w, h, c, bytes, x, b, numbers, y);
  all(w, 0, c, bytes, x, b, numbers, y);
  return 0;
}
