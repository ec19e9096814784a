// Single elements that the program reads and writes between loop nests: a pivot, a residual, the half of a number, columns, a store that may be to the array.
// ARGS: 37
// ARGS: 0
// ARGS: 1
// ARGS: 2
// ARGS: 190
// ARGS: 310
// OFFLOAD: yes
#include "example.h"

#include <math.h>
#include <string.h>

// The pivot is compared with zero by the program; what is stored to `rows` may be to the matrix.
__attribute__((noinline)) static int decompose(int n, double *a, int *rows) {
  for (int k = 0; k < n; k++) {
    int p = k;
    double most = fabs(a[k * n + k]);
    for (int i = k + 1; i < n; i++) {
      double v = fabs(a[i * n + k]);
      if (v > most) {
        most = v;
        p = i;
      }
    }
    rows[k] = p;
    if (most == 0)
      return k;
    if (p != k)
      for (int j = 0; j < n; j++) {
        double t = a[k * n + j];
        a[k * n + j] = a[p * n + j];
        a[p * n + j] = t;
      }
    for (int i = k + 1; i < n; i++) {
      a[i * n + k] /= a[k * n + k];
      for (int j = k + 1; j < n; j++)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
  }
  return n;
}

// The inside of a grid is written: a look at an element of it, at one of its side, at half of a number, and at two numbers.
__attribute__((noinline)) static double smooth(int n, double *restrict a, double *restrict b, int steps) {
  double sum = 0;
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i * n + j] = 0.3 * a[i * n + j] + 0.175 * (a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i * n + j] = b[i * n + j] + 0.01 * t;
    int half;
    memcpy(&half, (char *)(b + n + 1) + 4, sizeof half);
    sum += a[(n / 2) * n + n / 2] + a[0] + (half & 255);
    if (sum > 1e3)
      sum -= a[n + 1] * a[n + 2];
  }
  return sum;
}

// `marks` may be anywhere, in the array as well.
__attribute__((noinline)) static void mark(int n, double *a, double *marks, int steps) {
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        a[i * n + j] = a[i * n + j] * 1.125 + 0.5;
    marks[t] = a[t] + 1;
  }
}

// Loops of the program go through a column, backwards through another one, through parts of numbers, and stop early.
__attribute__((noinline)) static double reflect(int n, double *restrict a, int steps) {
  double all = 0;
  for (int k = 0; k < steps; k++) {
    double sum = 0, back = 1;
    for (int i = k; i < n; i++)
      sum += a[i * n + k] * a[i * n + k];
    for (int i = n - 1; i > k; i--)
      back = back * 0.5 + a[i * n + n - 1];
    unsigned char bits = 0;
    for (int i = 0; i < n; i++)
      bits ^= ((unsigned char *)(a + (long)i * n + k))[3];
    for (int i = 0; i < n; i++)
      if (a[i * n + k] > sum)
        break;
      else
        back += 0.25;
    sum = sqrt(sum) + 1;
    if (a[k * n + k] > 0)
      sum = -sum;
    for (int i = k; i < n; i++)
      a[i * n + k] /= sum;
    for (int j = k + 1; j < n; j++) {
      double t = 0;
      for (int i = k; i < n; i++)
        t += a[i * n + k] * a[i * n + j];
      for (int i = k; i < n; i++)
        a[i * n + j] += t * a[i * n + k];
    }
    all += sum + back + bits;
  }
  return all;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 37), steps = n < 7 ? n : 7;
  size_t count = (size_t)n * n;
  double *a = example_array(count + 1), *b = example_array(count + 1), *c = example_array(count + 8);
  int *rows = calloc(n + 1, sizeof *rows);
  example_fill(a, count);
  for (size_t i = 0; i < count; ++i)
    b[i] = c[i] = a[i];
  printf("%d\n", decompose(n, a, rows));
  for (int i = 0; i < n; i++)
    a[i] += rows[i];
  example_print("a", a, count);
  printf("%.17g\n", n > 2 ? smooth(n, b, c, steps) : 0.0);
  example_print("b", b, count);
  example_print("c", c, count);
  printf("%.17g\n", n > 2 ? reflect(n, b, n < 40 ? n : 5) : 0.0);
  example_print("b", b, count);
  double marks[8] = {0};
  mark(n, a, marks, steps);
  mark(n, a, n > 2 ? a + 3 : marks, steps);
  example_print("a", a, count);
  for (int t = 0; t < steps; t++)
    printf("%.17g\n", marks[t]);
  return 0;
}
