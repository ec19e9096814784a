// Loops that return early with an error: numbers, messages, what only the early return stores, between pointers that are a whole number of
// elements apart or not. On the device where no value is wrong, else the original loop.
// ARGS: 3000 0
// ARGS: 3000 1
// ARGS: 3000 1500
// ARGS: 3000 3000
// ARGS: 1 0
// ARGS: 0 0
// OFFLOAD: partial
// REASON: a check in the loop failed
// REASON: each end of a loop is a whole number of steps away
// KERNELS: number message stored front between below
#include "example.h"

#define N(type) __attribute__((noinline)) static type

N(double) number(int n, const double *v, double *out) {
  for (int i = 0; i < n; i++) {
    if (v[i] < 0)
      return -1.0;
    out[i] = v[i] / 2;
  }
  return 1.0;
}

N(const char *) message(int n, const double *v, double *out) {
  for (int i = 0; i < n; i++) {
    if (v[i] < 0)
      return "negative";
    out[i] += v[i] / 3;
  }
  return NULL;
}

N(void) stored(int n, const double *v, double *out, int *info) {
  for (int i = 0; i < n; i++) {
    if (v[i] < 0) {
      *info = i + 1;
      return;
    }
    out[i] += v[i] / 5;
  }
  *info = 0;
}

N(void) front(int n, const double *restrict v, double *restrict out, int *restrict info) {
  *info = 0;
  for (int i = 0; i < n; i++) {
    if (v[i] < 0) {
      *info = -i - 1;
      return;
    }
    out[i] += v[i] / 7;
  }
}

N(int) between(const double *v, const double *end, double *out) {
  for (; v != end; ++v, ++out) {
    if (*v < 0)
      return 0;
    *out += *v / 9;
  }
  return 1;
}

N(int) below(const double *v, const double *end, double *out) {
  for (; v < end; ++v, ++out) {
    if (*v < 0)
      return 0;
    *out += *v / 11;
  }
  return 1;
}

N(int) backwards(const double *v, const double *last, double *out) {
  while (last != v) {
    --last;
    if (*last < 0)
      return 0;
    *out++ += *last / 13;
  }
  return 1;
}

/* Ends at a value only, where the end is between two elements: of bytes, so that it may be. */
N(int) pairs(const char *v, const char *end, double *out) {
  for (; v != end; v += 2 * sizeof(double), ++out) {
    const double *pair = (const double *)v;
    if (pair[0] < 0)
      return 0;
    *out += pair[0] * pair[1];
  }
  return 1;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 3000), wrong = (int)example_arg(argc, argv, 2, 0);
  double *v = malloc((n + 4) * sizeof *v), *out = malloc((n + 4) * sizeof *out);
  for (int i = 0; i < n + 4; i++) {
    v[i] = i % 37 + 0.25;
    out[i] = i % 11;
  }
  if (wrong)
    v[wrong - 1] = -2;
  int info = 7, other = 8;
  double ends = number(n, v, out);
  const char *text = message(n, v, out);
  stored(n, v, out, &info);
  front(n, v, out, &other);
  printf("%g %s %d %d\n", ends, text ? text : "none", info, other);
  printf("%d", between(v, v + n, out));
  printf(" %d", below(v, v + n, out));
  printf(" %d", backwards(v, v + n, out));
  printf(" %d", pairs((const char *)v, (const char *)(v + n / 2 * 2), out));
  v[n / 2 * 2] = -1;
  printf(" %d\n", pairs((const char *)v, (const char *)(v + n / 2 * 2 + 3), out));
  double s = 0;
  for (int i = 0; i < n + 4; i++)
    s = s * 0.99 + out[i];
  printf("%.17g\n", s);
  free(v);
  free(out);
  return 0;
}
