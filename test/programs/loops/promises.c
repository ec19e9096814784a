// Loops whose iterations the program says are independent, where data chooses the elements: two lists, a list of a list, an element from another
// one, remainders of hashes. Without the promise each stays on the host; so does
// one that the promise is not about: a loop around, an access of the array by a counter, or one outside of the loop.
// ARGS: 700 3
// ARGS: 0 1
// ARGS: 1 2
// ARGS: 33 1
// ARGS: 4096 2
// OFFLOAD: yes
// FLAGS: -Wno-pass-failed
// KERNELS: two_lists list_of_list from_another by_remainder
#include <stdio.h>
#include <stdlib.h>

#define OUT_OF_LINE __attribute__((noinline))
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define MOST 4096

static double x[3 * MOST], f[MOST];
static int p[MOST], q[MOST], r[MOST];
static unsigned keys[1024];

OUT_OF_LINE static void two_lists(int n, double *restrict a, const double *restrict v, const int *restrict up, const int *restrict down) {
  INDEPENDENT
  for (int i = 0; i < n; i++) {
    a[up[i]] += v[i];
    a[down[i]] -= v[i] * 0.5;
  }
}

OUT_OF_LINE static void list_of_list(int n, double *restrict a, const double *restrict v, const int *restrict list, const int *restrict of) {
  INDEPENDENT
  for (int i = 0; i < n; i++)
    a[list[of[i]]] += v[i];
}

OUT_OF_LINE static void from_another(int n, double *restrict a, const int *restrict to, const int *restrict from) {
  INDEPENDENT
  for (int i = 0; i < n; i++)
    a[to[i]] = a[from[i]] * 0.75 + 1;
}

OUT_OF_LINE static void by_remainder(int n, double *restrict a, const unsigned *restrict key) {
  INDEPENDENT
  for (int i = 0; i < n; i++)
    a[key[i] % 1031] *= 1.5;
}

OUT_OF_LINE static void around(int times, int n, double *restrict a, const double *restrict v, const int *restrict up, const int *restrict down) {
  INDEPENDENT
  for (int t = 0; t < times; t++)
    for (int i = 0; i < n; i++) {
      a[2 * t * MOST / 4 + up[i] % 2] += v[i];
      a[2 * t * MOST / 4 + down[i] % 2] -= v[i];
    }
}

OUT_OF_LINE static void beside(int n, double *restrict a, const double *restrict v, const int *restrict up) {
  INDEPENDENT
  for (int i = 0; i < n; i++) {
    a[i] += v[i];
    a[up[i]] -= v[i] * 0.25;
  }
}

OUT_OF_LINE static void without(int n, double *restrict a, const double *restrict v, const int *restrict up, const int *restrict down) {
  for (int i = 0; i < n; i++) {
    a[up[i]] += v[i];
    a[down[i]] -= v[i] * 0.5;
  }
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  int n = atoi(argv[1]), times = atoi(argv[2]);
  for (int i = 0; i < MOST; i++) {
    // Elements 2 i and 2 i + 1 are the iteration's own.
    int mixed = (i * 1237 + 5) % MOST;
    p[i] = 2 * mixed, q[i] = 2 * mixed + 1, r[i] = (i * 331 + 7) % MOST;
    f[i] = (i * 37 + 11) % 101 / 7.0;
  }
  for (int i = 0; i < 1024; i++)
    keys[i] = (unsigned)i + 1031u * (unsigned)(i * 53 % 97);
  for (int i = 0; i < 3 * MOST; i++)
    x[i] = (i * 53 + 5) % 97 / 9.0;
  for (int t = 0; t < times; t++) {
    two_lists(n, x, f, p, q);
    list_of_list(n, x, f, p, r);
    from_another(n, x, p, q);
    by_remainder(n < 1024 ? n : 1024, x, keys);
    without(n, x, f, p, r);
  }
  around(times, n, x, f, p, q);
  beside(n < 1 ? n : 1, x, f, q);
  double sum = 0;
  for (int i = 0; i < 3 * MOST; i++)
    sum = sum * 0.99 + x[i];
  printf("%.17g\n", sum);
  return 0;
}
