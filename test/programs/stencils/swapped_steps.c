// Time steps between two or three arrays that change places: one, two and many steps a launch, and what is left at the end, of numbers of steps that are no
// multiples.
// ARGS: 30 40 50
// ARGS: 0 20 20
// ARGS: 1 20 20
// ARGS: 2 20 21
// ARGS: 3 33 20
// ARGS: 7 20 20
// ARGS: 8 65 47
// ARGS: 9 18 80
// ARGS: 17 3 3
// ARGS: 31 70 130
// ARGS: 33 5 300
// OFFLOAD: yes
// KERNELS: heat
// KERNELS: heat3d
// KERNELS: wave
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL TYPE *heat(int steps, int n, int m, TYPE *a, TYPE *b) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        b[i * m + j] = (TYPE)0.25 * (a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1]);
    TYPE *c = a;
    a = b;
    b = c;
  }
  return a;
}

KERNEL void heat3d(int steps, int n, int m, TYPE *a, TYPE *b) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        for (int k = 1; k < 11; k++)
          b[(i * m + j) * 12 + k] = (TYPE)0.2 * (a[((i - 1) * m + j) * 12 + k] + a[((i + 1) * m + j) * 12 + k] + a[(i * m + j) * 12 + k - 1]) +
                                    (TYPE)0.1 * (a[(i * m + j + 1) * 12 + k] + a[(i * m + j - 1) * 12 + k + 1]);
    TYPE *c = a;
    a = b;
    b = c;
  }
}

// Three time levels.
KERNEL void wave(int steps, int n, int m, TYPE *a, TYPE *b, TYPE *c) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        c[i * m + j] = 2 * b[i * m + j] - a[i * m + j] +
                       (TYPE)0.1 * (b[(i - 1) * m + j] + b[(i + 1) * m + j] + b[i * m + j - 1] + b[i * m + j + 1] - 4 * b[i * m + j]);
    TYPE *d = a;
    a = b;
    b = c;
    c = d;
  }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 30), n = (int)example_arg(argc, argv, 2, 40);
  int m = (int)example_arg(argc, argv, 3, 50);
  size_t count = (size_t)n * m * 12;
  TYPE *A = example_array(count), *B = example_array(count), *C = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  example_fill(C, count);
  example_print("heat", heat(steps, n, m, A, B), count);
  example_print("A", A, count);
  example_print("B", B, count);
  heat3d(steps, n, m, A, B);
  example_print("A", A, count);
  example_print("B", B, count);
  wave(steps, n, m, A, B, C);
  example_print("A", A, count);
  example_print("B", B, count);
  example_print("C", C, count);
  return 0;
}
