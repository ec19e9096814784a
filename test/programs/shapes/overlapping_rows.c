// Frames of a signal and windows of a picture that overlap: rows of the step, read beyond their ends. Nothing is written to them, so that two
// subscripts may be one place; where results go to the same memory, or steps go down, the loop stays.
// ARGS: 40 16 64 0
// ARGS: 40 64 64 0
// ARGS: 40 70 64 0
// ARGS: 3 1 200 0
// ARGS: 40 0 64 0
// ARGS: 40 2 64 2
// ARGS: 0 16 64 0
// ARGS: 1 16 1 0
// ARGS: 40 16 64 1
// ARGS: 40 64 64 1
// ARGS: 40 70 64 1
// OFFLOAD: partial
// REASON: rows of
// REASON: overlap
// KERNELS: spectrum framed volumes means
#include "example.h"

#define N __attribute__((noinline)) static void

N spectrum(int frames, int step, int size, const double *x, const double *w, double *power) {
  for (int f = 0; f < frames; f++)
    for (int k = 0; k <= size / 2; k++) {
      double re = 0, im = 0;
      for (int i = 0; i < size; i++) {
        double v = x[f * step + i] * w[i];
        re += v * w[k];
        im += v * w[size + k];
      }
      power[f * (size / 2 + 1) + k] = re * re + im * im;
    }
}

N framed(int frames, int step, int size, const double *x, const double *w, double *out) {
  for (int f = 0; f < frames; f++)
    for (int i = 0; i < size; i++)
      out[f * size + i] = x[f * step + i] * w[i] + x[f * step + size - 1 - i];
}

/* In place where the step is the length, and rows of one another's otherwise. */
N shifted(int frames, int step, int size, const double *x, double *out) {
  for (int f = 0; f < frames; f++)
    for (int i = 0; i < size; i++)
      out[f * step + i] = 2 * x[f * step + i] + 1;
}

N volumes(int planes, int plane, int frames, int step, int size, const double *x, double *out) {
  for (int p = 0; p < planes; p++)
    for (int f = 0; f < frames; f++) {
      double s = 0;
      for (int i = 0; i < size; i++)
        s += x[p * plane + f * step + i];
      out[p * frames + f] = s;
    }
}

N means(int frames, int step, int size, const float *x, float *out) {
  for (int i = 0; i < size; i++) {
    float s = 0;
    for (int f = 0; f < frames; f++)
      s += x[f * step + i];
    out[i] = s / 64;
  }
}

int main(int argc, char **argv) {
  int frames = (int)example_arg(argc, argv, 1, 40), step = (int)example_arg(argc, argv, 2, 16);
  int size = (int)example_arg(argc, argv, 3, 64), way = (int)example_arg(argc, argv, 4, 0), same = way == 1;
  if (way == 2)
    step = -step;
  int count = 20000, first = step < 0 ? -step * frames : 0;
  double *x = malloc(count * sizeof *x), *w = malloc(count * sizeof *w), *out = malloc(count * sizeof *out);
  float *narrow = malloc(count * sizeof *narrow), *sums = malloc(count * sizeof *sums);
  unsigned state = 7;
  for (int i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    x[i] = (double)(state >> 8) / (1 << 24);
    narrow[i] = (float)(state >> 12) / (1 << 20);
    w[i] = (double)(state >> 16) / (1 << 16);
    out[i] = 0;
    sums[i] = 0;
  }
  spectrum(frames, step, size, x + first, w, same ? x + first : out);
  framed(frames, step, size, x + first, w, out + 3000);
  shifted(frames, step, size, x + first, same ? x + first : w + first);
  volumes(3, 512, frames, step, size, x + first, same ? x + first + 2 : out + 9000);
  means(frames, step, size, narrow + first, same ? narrow + first + 1 : sums);
  double s = 0;
  for (int i = 0; i < count; i++)
    s = s * 0.999 + x[i] + 2 * w[i] + 3 * out[i] + 5 * (double)narrow[i] + 7 * (double)sums[i];
  printf("%.17g\n", s);
  free(x);
  free(w);
  free(out);
  free(narrow);
  free(sums);
  return 0;
}
