// Values that loops take over from the iterations before: rolling loads, fluxes, subscripts that wrap around, counters of few bits, loops of one,
// two, and no iteration; and those that have to stay.
// ARGS: 130 67
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 3 2
// ARGS: 4 40
// ARGS: 300 33
// OFFLOAD: yes
// KERNELS: rolled
// KERNELS: down
// KERNELS: third
// KERNELS: flux
// KERNELS: around
// KERNELS: backwards
// KERNELS: strided
// KERNELS: pointers
// KERNELS: quotients
// KERNELS: previous
// KERNELS: chosen
#include "example.h"
#include <stdint.h>

#define KERNEL __attribute__((noinline)) static

KERNEL void rolled(int n, int m, TYPE (*restrict a)[m], TYPE (*restrict q)[m]) {
  for (int i = 0; i < n; i++) {
    TYPE left = q[i][0], mid = q[i][1];
    for (int j = 1; j < m - 1; j++) {
      TYPE right = q[i][j + 1];
      a[i][j] = left - 2 * mid + right;
      left = mid;
      mid = right;
    }
  }
}

KERNEL void down(int n, int m, TYPE (*restrict a)[m], TYPE (*restrict q)[m]) {
  for (int j = 0; j < m; j++) {
    TYPE left = q[0][j], mid = q[1][j];
    for (int i = 1; i < n - 1; i++) {
      TYPE right = q[i + 1][j];
      a[i][j] = left - 2 * mid + right;
      left = mid;
      mid = right;
    }
  }
}

// Only the first of the values is what a load would find.
KERNEL void third(int n, int m, TYPE edge, TYPE (*restrict a)[m], TYPE (*restrict q)[m]) {
  for (int i = 0; i < n; i++) {
    TYPE x = edge, y = q[i][0], z = q[i][1];
    for (int j = 2; j < m; j++) {
      a[i][j] = x + 2 * y - z + q[i][j];
      x = y;
      y = z;
      z = q[i][j];
    }
  }
}

KERNEL void flux(long n, TYPE inflow, TYPE *restrict a, const TYPE *restrict q) {
  TYPE left = inflow;
  for (long i = 0; i < n - 1; i++) {
    TYPE right = (TYPE)0.5 * (q[i] * q[i] + q[i + 1] * q[i + 1]);
    a[i] = right - left;
    left = right;
  }
}

KERNEL void around(int n, TYPE *restrict a, const TYPE *restrict b) {
  int before = n - 1, earlier = n - 2;
  for (int i = 0; i < n; i++) {
    a[i] = b[i] + b[before] + b[earlier < 0 ? 0 : earlier];
    earlier = before;
    before = i;
  }
}

KERNEL void backwards(int n, TYPE *restrict a, const TYPE *restrict b) {
  TYPE last = 3, last_but_one = 5;
  for (int i = n - 1; i >= 0; i--) {
    a[i] += last * b[i] - last_but_one;
    last_but_one = last;
    last = b[i];
  }
}

KERNEL void strided(unsigned n, TYPE *restrict a, const TYPE *restrict b) {
  TYPE last = 7;
  for (unsigned i = 1; i < n; i += 3) {
    a[i] = b[i] + last;
    last = b[i] * b[i - 1];
  }
}

KERNEL void pointers(const TYPE *restrict b, const TYPE *end, TYPE *restrict a) {
  TYPE last = 1;
  while (b < end) {
    *a++ = *b - last;
    last = *b++;
  }
}

// A division that only some iterations could do without harm.
KERNEL void quotients(int n, const int *restrict d, int *restrict a) {
  int last = 9;
  for (int i = 0; i < n; i++) {
    a[i] = last;
    last = 1000 / d[i];
  }
}

// The value of the iteration before depends on one that is taken over as well: its subscript is in no row for the first.
KERNEL void previous(int n, const TYPE *restrict b, TYPE *restrict a) {
  int at = 2 * n;
  TYPE last = 0;
  for (int i = 0; i < n; i++) {
    a[i] = last;
    last = b[at];
    at = i;
  }
}

// Of two arrays that change places, what the one held is in the other one.
KERNEL void swapped(int n, int steps, TYPE *a, TYPE *b) {
  TYPE last = 2;
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++)
      b[i] = a[i] + last;
    last = a[0];
    TYPE *c = a;
    a = b;
    b = c;
  }
}

KERNEL void in_place(int n, TYPE *a) {
  TYPE left = 0;
  for (int i = 0; i < n; i++) {
    TYPE own = a[i];
    a[i] = own + left;
    left = own;
  }
}

// A counter that comes back to where it began.
KERNEL void bytes(int n, TYPE *restrict a, const TYPE *restrict b) {
  TYPE last = 1;
  uint8_t k = 250;
  for (int i = 0; i < n; i++, k++) {
    a[i] = last + k;
    last = b[k];
  }
}

KERNEL void chosen(int n, TYPE *restrict a, const TYPE *restrict b) {
  TYPE last = 1;
  for (int i = 0; i < n; i++) {
    a[i] = last;
    last = b[i] > 0 ? b[i] : -2 * b[i];
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 130), m = (int)example_arg(argc, argv, 2, 67);
  size_t count = (size_t)(n + 300) * (m + 3);
  TYPE *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  int *d = malloc(count * sizeof *d), *q = malloc(count * sizeof *q);
  for (size_t i = 0; i < count; i++)
    d[i] = 1 + (int)(i * 7 % 13), q[i] = 0;
  rolled(n, m, (void *)A, (void *)B);
  example_print("rolled", A, count);
  down(n, m, (void *)A, (void *)B);
  example_print("down", A, count);
  third(n, m, 4, (void *)A, (void *)B);
  example_print("third", A, count);
  flux(n, 2, A, B);
  example_print("flux", A, count);
  around(n, A, B);
  example_print("around", A, count);
  backwards(n, A, B);
  example_print("backwards", A, count);
  strided(n, A, B);
  example_print("strided", A, count);
  pointers(B, B + n, A);
  example_print("pointers", A, count);
  quotients(n, d, q);
  for (int i = 0; i < n; i++)
    A[i] = q[i];
  example_print("quotients", A, count);
  previous(n, B, A);
  example_print("previous", A, count);
  swapped(n, 5, A, B);
  example_print("swapped", A, count);
  in_place(n, A);
  example_print("in_place", A, count);
  bytes(n, A, B);
  example_print("bytes", A, count);
  chosen(n, A, B);
  example_print("chosen", A, count);
  return 0;
}
