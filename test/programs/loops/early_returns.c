// Loops that return early from their function, with an error of the program's own, where what they load or compute is wrong: the device reports that, and the
// loop that runs then leaves nothing behind of what comes after. The second argument is the number of the wrong element, counted from one. A search stores
// nothing, and a loop that only breaks off goes on to the same code: both stay.
// ARGS: 1000 0
// ARGS: 1000 1
// ARGS: 1000 620
// ARGS: 1089 1089
// ARGS: 40 7
// ARGS: 0 0
// OFFLOAD: partial
// FALLBACK: a check in the loop failed, which ends it
// KERNELS: roots place rows decomposed told both
#include "example.h"
#include <errno.h>
#include <math.h>

__attribute__((noinline)) static int roots(int n, const double *v, double *out) {
  for (int i = 0; i < n; ++i) {
    if (v[i] < 0)
      return -1;
    out[i] = sqrt(v[i]);
  }
  return 0;
}

// In place; the number of the wrong element in place of a number.
__attribute__((noinline)) static int place(int n, double *v) {
  for (int i = 0; i < n; ++i) {
    if (v[i] < 0)
      return i;
    v[i] = 1 / (v[i] + 1);
  }
  return -1;
}

// Out of two loops, by one of two conditions.
__attribute__((noinline)) static int rows(int n, int m, const double *v, double *out) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      double x = v[i * m + j];
      if (x != x || x < 0)
        return 2 + i;
      out[i * m + j] += x * j;
    }
  return 1;
}

// What is tested has been computed by other iterations.
__attribute__((noinline)) static int decomposed(int n, double *a) {
  for (int k = 0; k < n; ++k) {
    if (fabs(a[k * n + k]) < 1e-9)
      return k + 1;
    for (int i = k + 1; i < n; ++i) {
      a[i * n + k] /= a[k * n + k];
      for (int j = k + 1; j < n; ++j)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
  }
  return 0;
}

// More loops behind, and a line that is printed once.
__attribute__((noinline)) static int told(int n, const double *v, double *out) {
  for (int i = 0; i < n; ++i) {
    if (v[i] < 0) {
      printf("wrong: %d\n", i);
      return 1;
    }
    out[i] = v[i] + out[i];
  }
  for (int i = 0; i < n; ++i)
    out[i] *= 2;
  return 0;
}

// Two errors, and a check that ends the program.
__attribute__((noinline)) static int both(int n, const double *v, double *out) {
  for (int i = 0; i < n; ++i) {
    if (v[i] < 0)
      return 7;
    if (v[i] > 1e6)
      return 8;
    if (v[i] == 12345)
      abort();
    out[i] = v[i] * v[i];
  }
  return 0;
}

__attribute__((noinline)) static int search(int n, const double *v) {
  for (int i = 0; i < n; ++i)
    if (v[i] < 0)
      return i;
  return -1;
}

__attribute__((noinline)) static void until(int n, const double *v, double *out) {
  for (int i = 0; i < n; ++i) {
    if (v[i] < 0)
      break;
    out[i] = v[i];
  }
}

static void show(const char *name, int result, int n, const double *v) {
  example_print(name, v, n);
  printf("%d\n", result);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1000), wrong = (int)example_arg(argc, argv, 2, 0), m = (int)sqrt(n);
  double *v = example_array(n + 1), *out = example_array(n + 1);
  example_fill(v, n);
  example_fill(out, n);
  for (int i = 0; i < n; ++i)
    v[i] = fabs(v[i]) + 0.1;
  double *a = example_array(m * m + 1);
  example_fill(a, m * m);
  for (int i = 0; i < m; ++i)
    a[i * m + i] += 20;
  if (wrong) {
    v[wrong - 1] = -0.5;
    if (m > 2)
      for (int j = 0; j < m; ++j)
        a[m / 2 * m + j] = 2 * a[m / 2 * m - m + j];
  }
  show("roots", roots(n, v, out), n, out);
  show("rows", rows(m, m, v, out), n, out);
  show("told", told(n, v, out), n, out);
  show("both", both(n, v, out), n, out);
  show("until", search(n, v), n, out);
  until(n, v, out);
  show("decomposed", decomposed(m, a), m * m, a);
  show("place", place(n, v), n, v);
  if (n > 5 && wrong) {
    v[n - 1] = NAN;
    v[3] = 1e7;
    show("numbers", rows(m, m, v, out) + both(n, v, out), n, out);
  }
  free(v);
  free(out);
  free(a);
  return 0;
}
