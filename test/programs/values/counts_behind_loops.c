// Counts that a loop leaves: as the bound of the next loop and in a sum over time, clamped on both sides as a subscript, and a counter's last value as a remainder.
// ARGS: 64 3
// ARGS: 0 3
// ARGS: 1 2
// ARGS: 2 1
// ARGS: 15 4
// ARGS: 257 2
// OFFLOAD: yes
// KERNELS: compact tail clamped last
#include <stdio.h>
#include <stdlib.h>

#define OUT_OF_LINE __attribute__((noinline)) static

// Only the sum of both loops' parts lives on, not what it is made of.
OUT_OF_LINE long compact(int n, int t, int m, const int *a, double *u, const double *w) {
  long z = 0;
  for (int s = 0; s < t; s++) {
    int k = 0;
    for (int i = 0; i < n; i++)
      if (a[i] > m)
        k++;
    for (int i = 0; i < k; i++)
      u[i] = w[i] + s;
    z += k;
  }
  return z;
}

OUT_OF_LINE double tail(int n, int t, int m, const int *a, double *u, const double *w) {
  double z = 0;
  for (int s = 0; s < t; s++) {
    int k = 0;
    for (int i = 0; i < n; i++)
      if (a[i] > m + s)
        k++;
    for (int i = k; i < n; i++)
      u[i] = w[i] - s;
    z += k;
  }
  return z;
}

// The cases of the subscript are told apart by what the count may be.
OUT_OF_LINE long clamped(int n, int t, int m, const int *a, double *u, const double *v, const double *w) {
  long z = 0;
  if (n < 2)
    return 0;
  for (int s = 0; s < t; s++) {
    int up = 0, down = 0;
    for (int i = 0; i < n; i++) {
      if (a[i] > m)
        up++;
      if (a[i] < m + s)
        down--;
    }
    int p = up < 0 ? 0 : up >= n ? n - 1 : up, q = down < 0 ? 0 : down >= n ? n - 1 : down;
    for (int i = 0; i < n; i++)
      u[i] += w[i] * v[p] - v[q];
    z += up - down;
  }
  return z;
}

// What the counter is behind its loop is looked at in a narrower type, and a remainder taken.
OUT_OF_LINE long last(int n, double *u, double *v) {
  int k, l = 0;
  if (n <= 0)
    return -1;
  for (k = n / 2; k < n; k += 3)
    u[k] = v[k] + k;
  for (int r = 0; r < 3; r++)
    for (int i = 0; i < n; i++)
      if (u[i] >= 0)
        l += 2;
  for (int i = 0; i < n; i++)
    v[i] = v[i] + u[k % n];
  return l;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 33, t = argc > 2 ? atoi(argv[2]) : 3;
  int *a = malloc((n + 1) * sizeof *a);
  double *u = malloc((n + 1) * sizeof *u), *v = malloc((n + 1) * sizeof *v), *w = malloc((n + 1) * sizeof *w);
  for (int i = 0; i <= n; i++) {
    a[i] = (i * 37 + 11) % 23 - 9;
    u[i] = i % 7 - 3;
    v[i] = i % 5 - 1.5;
    w[i] = i % 11 * 0.25;
  }
  long z = compact(n, t, 2, a, u, w);
  double y = tail(n, t, -2, a, u, w);
  z = z * 31 + clamped(n, t, 1, a, u, v, w);
  z = z * 31 + last(n, u, v);
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum = sum * 0.75 + u[i] - v[i] * 0.5;
  printf("%ld %.17g %.17g\n", z, y, sum);
  free(a);
  free(u);
  free(v);
  free(w);
  return 0;
}
