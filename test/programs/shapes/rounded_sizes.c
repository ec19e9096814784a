// Sizes that are rounded or halved, and multiplied by counters: the pitch of an image, half of an image, the quarters of a matrix.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 64
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void pitched(int h, int w, const double *restrict in, double *restrict out) {
  int pitch = (w + 15) & ~15;
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++)
      out[i * pitch + j] = in[i * pitch + j] * 2 + in[i * pitch];
}

__attribute__((noinline)) static void pitched_wide(size_t h, size_t w, const double *restrict in, double *restrict out) {
  size_t pitch = (w + 7) / 8 * 8;
  for (size_t i = 0; i < h; i++)
    for (size_t j = 0; j < w; j++)
      out[i * pitch + j] += in[i * pitch + j] * 0.5;
}

__attribute__((noinline)) static void reduce(int h, int w, const double *restrict in, double *restrict out) {
  for (int i = 0; i < h / 2; i++)
    for (int j = 0; j < w / 2; j++)
      out[i * (w / 2) + j] = in[2 * i * w + 2 * j] + in[2 * i * w + 2 * j + 1] + in[(2 * i + 1) * w + 2 * j] - in[(2 * i + 1) * w + 2 * j + 1];
}

__attribute__((noinline)) static void pool(int c, int h, int w, const double *restrict in, double *restrict out) {
  for (int k = 0; k < c; k++)
    for (int y = 0; y < h / 2; y++)
      for (int x = 0; x < w / 2; x++) {
        double a = in[(k * h + 2 * y) * w + 2 * x], b = in[(k * h + 2 * y + 1) * w + 2 * x + 1];
        out[(k * (h / 2) + y) * (w / 2) + x] = a > b ? a : b;
      }
}

__attribute__((noinline)) static void quarters(int n, double *A) {
  int half = n / 2;
  for (int i = 0; i < half; i++)
    for (int j = 0; j < half; j++)
      A[i * n + j] += A[(i + half) * n + j + half] * 0.5;
}

int main(int argc, char **argv) {
  int h = (int)example_arg(argc, argv, 1, 33), w = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)(h + 1) * (w + 16) * 3;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  pitched(h, w, A, B);
  example_print("B", B, count);
  pitched_wide(h, w, B, A);
  example_print("A", A, count);
  reduce(h, w, A, B);
  example_print("B", B, count);
  reduce(-h, -w, A, B);
  pool(3, h, w, B, A);
  example_print("A", A, count);
  quarters(h < w ? h : w, A);
  quarters(-5, A);
  example_print("A", A, count);
  free(A);
  free(B);
  return 0;
}
