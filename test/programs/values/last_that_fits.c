// The last of the iterations that satisfy a condition on data, what it leaves, and whether there is one: backwards, with several values, in rows, with
// what was there before; NaNs satisfy nothing. What depends on what was chosen before stays.
// ARGS: 0
// ARGS: 1
// ARGS: 31
// ARGS: 256
// ARGS: 3000
// OFFLOAD: yes
// KERNELS: last_place last_values first_from_behind any_of none_of last_of_rows
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define OUT_OF_LINE __attribute__((noinline)) static

OUT_OF_LINE int last_place(const double *x, int n, int before) {
  int last = before;
  for (int i = 0; i < n; i++)
    if (x[i] < 0)
      last = i;
  return last;
}

OUT_OF_LINE long last_values(const float *x, const float *y, long n, float *out) {
  long last = -7;
  float w = 1.5f, u = -2;
  for (long i = 0; i < n; i++) {
    float a = x[i], b = y[i];
    if (a < b) {
      last = 3 * i + 1;
      w = a * b;
    }
    if (!(a > 9))
      u = b;
  }
  out[0] = w;
  out[1] = u;
  return last;
}

OUT_OF_LINE unsigned first_from_behind(const int *x, unsigned n, int wanted) {
  unsigned first = n;
  for (unsigned i = n; i-- > 0;)
    if (x[i] == wanted)
      first = i;
  return first;
}

OUT_OF_LINE int any_of(const double *x, int n, double limit) {
  int found = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > limit)
      found = 1;
  return found;
}

OUT_OF_LINE double none_of(const double *x, const double *y, int n, double value, double before) {
  double found = before;
  for (int i = 0; i < n; i++)
    if (x[i] == y[i] && x[i] > 3)
      found = value;
  return found;
}

OUT_OF_LINE void last_of_rows(const double *x, int *out, int n, int m) {
  for (int i = 0; i < n; i++) {
    int last = -1;
    for (int j = 0; j < m; j++)
      if (x[i * m + j] > 20)
        last = j;
    out[i] = last;
  }
}

OUT_OF_LINE int last_change(const int *x, int n) {
  int last = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > last)
      last = i;
  return last;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 9;
  double *x = malloc((n + 1) * sizeof *x), *y = malloc((n + 1) * sizeof *y);
  float *u = malloc((n + 1) * sizeof *u), *v = malloc((n + 1) * sizeof *v), out[2];
  int *k = malloc((n + 1) * sizeof *k), *rows = calloc(n + 1, sizeof *rows);
  for (int i = 0; i < n; i++) {
    x[i] = i % 97 == 5 ? NAN : i * 7919 % 101 - (i < n / 2 ? 9 : 0);
    y[i] = i * 104729 % 89;
    u[i] = i % 13 == 3 ? NAN : (float)(i * 31 % 37);
    v[i] = i * 17 % (i < n - 200 ? 41 : 3);
    k[i] = i * 5 % 1013;
  }
  double s = 0;
  for (int turn = 0; turn < 2; turn++) {
    s += last_place(x, n, -1 - turn) * 3.0 + last_values(u, v, n, out) + out[0] + out[1];
    s += first_from_behind(k, n, turn ? 500 : -3) + 7 * any_of(x, n, turn ? 99.5 : 40) + 9 * any_of(x, n, 1000);
    s += none_of(x, y, n, turn ? 0.25 : NAN, -0.5) > 0 ? 1 : 3;
    int m = n > 100 ? 50 : 1;
    last_of_rows(x, rows, n / m, m);
    for (int i = 0; i < n / m; i++)
      s = s * 0.99 + rows[i];
    s += last_change(k, n);
    printf("%a\n", s);
    for (int i = 0; i < n; i++)
      x[i] = y[i] - x[i] / 3;
  }
}
