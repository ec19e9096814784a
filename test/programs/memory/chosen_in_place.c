// Elements that are replaced by those of a table that they choose themselves, all far from the table's first: rounded numbers and numbers of few bits, by
// themselves and under a condition. What a thread has for points beyond the last one chooses no element.
// ARGS: 500
// ARGS: 1
// ARGS: 255
// ARGS: 256
// ARGS: 257
// ARGS: 3001
// ARGS: 0
// OFFLOAD: yes
#include "example.h"

enum { FIRST = 900000 };

__attribute__((noinline)) static void rounded(int n, float *x, const float *t) {
  for (int i = 0; i < n; ++i)
    x[i] = t[(int)x[i]];
}

__attribute__((noinline)) static void rounded_when(int n, float *x, const float *t) {
  for (int i = 0; i < n; ++i)
    if (x[i] > FIRST + 3)
      x[i] = 0.5f * x[i] + t[(int)(x[i] + 1)];
}

__attribute__((noinline)) static void of_few_bits(int n, int *a, const int *t) {
  for (int i = 0; i < n; ++i)
    a[i] = t[(a[i] & 63) + FIRST];
}

__attribute__((noinline)) static void both(int n, float *x, double *y, const float *t) {
  for (int i = 0; i < n; ++i) {
    y[i] += t[(int)x[i] - 2];
    x[i] = x[i] + 1;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 500);
  float *x = malloc((n + 1) * sizeof *x), *t = malloc((FIRST + n + 100) * sizeof *t);
  double *y = malloc((n + 1) * sizeof *y);
  int *a = malloc((n + 1) * sizeof *a), *u = malloc((FIRST + 64) * sizeof *u);
  for (int k = 0; k < FIRST + n + 100; ++k)
    t[k] = (float)(k % 977) / 8;
  for (int k = 0; k < FIRST + 64; ++k)
    u[k] = k * 7 % 1009;
  for (int i = 0; i < n; ++i) {
    x[i] = (float)(FIRST + i) + 0.25f;
    y[i] = i;
    a[i] = i * 37;
  }
  both(n, x, y, t);
  rounded_when(n, x, t);
  of_few_bits(n, a, u);
  for (int i = 0; i < n; ++i)
    printf("%g %g %d\n", x[i], y[i], a[i]);
  for (int i = 0; i < n; ++i)
    x[i] = (float)(FIRST + i % 90) + 0.75f;
  rounded(n, x, t);
  for (int i = 0; i < n; ++i)
    printf("%g\n", x[i]);
  return 0;
}
