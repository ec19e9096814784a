// A histogram whose largest number has one entry, a table that is looked up with numbers of which one is the largest, stores by a list in which two integers are equal, so that the last one counts, sums by a list whose order counts, and sums in whose memory their list is.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void histogram(int n, int *restrict h, const int *restrict p) {
  for (int i = 0; i < n; i++)
    h[p[i]] += i + 1;
}

__attribute__((noinline)) static void scatter(int n, double *restrict y, const int *restrict list, const double *restrict x) {
  for (int i = 0; i < n; i++)
    y[list[i]] = x[i] * 2;
}

__attribute__((noinline)) static void look_up(int n, double *restrict y, const double *restrict t, const double *restrict x) {
  for (int i = 0; i < n; i++)
    y[i] += t[(int)x[i]];
}

__attribute__((noinline)) static void add(int n, double *restrict f, const int *restrict p, const double *restrict v) {
  for (int i = 0; i < n; i++)
    f[p[i]] += v[i];
}

__attribute__((noinline)) static void into_list(int n, double *f, const unsigned char *p, const double *v) {
  for (int i = 0; i < n; i++)
    f[p[i]] += v[i];
}

int main(void) {
  enum { N = 700 };
  int *p = malloc(sizeof(int) * N), *list = malloc(sizeof(int) * N), *h = calloc(N, sizeof(int));
  double *x = malloc(sizeof(double) * N), *y = calloc(N, sizeof(double));
  for (int i = 0; i < N; i++) {
    p[i] = i * 7 % 31;
    list[i] = (i * 11 + 5) % N;
    x[i] = i * 0.25 + 1;
  }
  p[400] = 31;
  list[20] = list[650];
  histogram(N, h, p);
  scatter(N, y, list, x);
  look_up(N - 600, y, x, x + 600);
  for (int i = 0; i < N; i++)
    x[i] = i % 3 == 0 ? 1e17 : i % 3 == 1 ? i * 0.37 : -1e17;
  add(N, y, p, x);
  into_list(200, y, (unsigned char *)(y + 20), x + 300);
  double sum = 0;
  for (int i = 0; i < N; i++)
    sum += y[i] * (double)(i % 13) + h[i] * (double)(i % 7);
  printf("%.17g\n", sum);
  free(p), free(list), free(h), free(x), free(y);
  return 0;
}
