// Arrays of different shapes in one allocation: apart, they run on the device; overlapping ones fall back.
// ARGS: 24 36 0
// ARGS: 2 2 0
// ARGS: 1 1 5
// ARGS: 24 36 700
// ARGS: 33 17 30
// OFFLOAD: partial
// KERNELS: level mixed workspace
// FALLBACK: argument 4 overlap
#include "example.h"

// The next level of a pyramid begins where this one ends, or `back` elements before.
__attribute__((noinline)) static void level(int h, int w, int at, int back, double *levels) {
  int next = at + h * w - back, half = w / 2;
  for (int y = 0; y < h / 2; y++)
    for (int x = 0; x < half; x++)
      levels[next + y * half + x] = 0.25 * (levels[at + 2 * y * w + 2 * x] + levels[at + (2 * y + 1) * w + 2 * x + 1]) + x;
}

// A vector, a matrix and its transpose.
__attribute__((noinline)) static void workspace(int n, int m, int back, double *work) {
  double *a = work + 2 * n - back, *t = a + n * m;
  for (int i = 0; i < n; i++) {
    work[i] = work[i] * 0.5 + i;
    for (int j = 0; j < m; j++) {
      t[j * n + i] = a[i * m + j] * work[i];
      a[i * m + j] += 1.0;
    }
  }
}

// Numbers of four bytes behind those of eight.
__attribute__((noinline)) static void mixed(int n, int m, int ld, size_t where, char *buffer) {
  double *x = (double *)buffer;
  float *y = (float *)(buffer + where);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[j * ld + i] = (float)(x[i * m + j] * 0.5 + j);
}

int main(int argc, char **argv) {
  int h = (int)example_arg(argc, argv, 1, 24), w = (int)example_arg(argc, argv, 2, 36), back = (int)example_arg(argc, argv, 3, 0);
  size_t count = 4 * (size_t)(h + 2) * (w + 2) + (size_t)back;
  double *a = example_array(count);
  example_fill(a, count);
  level(h, w, back, back, a);
  example_print("levels", a, count);
  workspace(h, w, back < h ? back : h, a + h);
  example_print("work", a, count);
  mixed(h, w, h + 1, ((size_t)h * w - (back ? 1 : 0)) * sizeof(double), (char *)a);
  example_print("mixed", a, count);
  free(a);
  return 0;
}
