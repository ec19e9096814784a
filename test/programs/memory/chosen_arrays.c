// Short loops in which each iteration goes to an array of its own, two always or one and sometimes two, three; two of them are one array, or overlap.
// ARGS: 400 256
// ARGS: 400 400
// ARGS: 400 0
// ARGS: 1 1
// ARGS: 0 0
// OFFLOAD: partial
// FALLBACK: overlap
#include "example.h"

__attribute__((noinline)) static void rotate(int n, int few, double *q, double *k, double c, double s) {
  for (int i = 0; i + 1 < n; i += 2) {
    int count = i < few ? 2 : 1;
    for (int v = 0; v < count; v++) {
      double *at = v == 0 ? q : k;
      double x = at[i], y = at[i + 1];
      at[i] = x * c - y * s;
      at[i + 1] = x * s + y * c;
    }
  }
}

__attribute__((noinline)) static void both(int n, double *a, double *b) {
  for (int i = 0; i < n; i++)
    for (int v = 0; v < 2; v++) {
      double *at = v ? b : a;
      at[i] = 2 * at[i] + v;
    }
}

__attribute__((noinline)) static void three(int n, const double *a, const double *b, const double *c, double *out) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int v = 0; v < 3; v++) {
      const double *at = v == 0 ? a : v == 1 ? b : c;
      sum += at[i] * (v + 1);
    }
    out[i] = sum;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 400), few = (int)example_arg(argc, argv, 2, 256);
  double *q = example_array(2 * n + 2), *k = example_array(n + 2), *out = example_array(n + 2);
  example_fill(q, 2 * n + 2);
  example_fill(k, n + 2);
  example_fill(out, n + 2);
  rotate(n, few, q, k, 0.8, 0.6);
  both(n, k, out);
  three(n, q, k, q + n, out);
  example_print("q", q, 2 * n);
  example_print("k", k, n);
  example_print("out", out, n);
  // What one iteration writes the next one reads.
  rotate(n, few, q, q, 0.8, 0.6);
  rotate(n, few, q, q + 2, 0.8, 0.6);
  both(n, q + 1, q);
  both(n, q, q + 1);
  three(n, q, q, k, q + 1);
  example_print("again", q, 2 * n);
  free(q);
  free(k);
  free(out);
  return 0;
}
