// Time loops that pass three arrays around, in a structure and outside of one, and an index that toggles.
// ARGS: 5 33 17
// ARGS: 0 9 9
// ARGS: 1 9 9
// ARGS: 6 3 50
// ARGS: 4 12 7
// OFFLOAD: yes
#include "example.h"

struct wave {
  double *before, *now, *next;
  int n, m;
};

__attribute__((noinline)) static int wave(struct wave *w, int steps) {
  int t;
  for (t = 0; t < steps; ++t) {
    for (int i = 1; i < w->n - 1; ++i)
      for (int j = 1; j < w->m - 1; ++j) {
        int at = i * w->m + j;
        w->next[at] = 1.5 * w->now[at] - 0.6 * w->before[at] + 0.1 * (w->now[at - w->m] + w->now[at + w->m]) -
                      0.1 * (w->now[at - 1] + w->now[at + 1]);
      }
    double *x = w->before;
    w->before = w->now;
    w->now = w->next;
    w->next = x;
  }
  return t;
}

__attribute__((noinline)) static double *around(int steps, int n, double *a, double *b, double *c) {
  double *last = NULL;
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      a[i] = 0.3 * b[i - 1] + 0.3 * c[i + 1] + 0.1 * t;
    last = a;
    double *x = a;
    a = b;
    b = c;
    c = x;
  }
  return last ? last : c;
}

__attribute__((noinline)) static int toggled(int steps, int n, double A[2][64]) {
  int now = 0;
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      A[1 - now][i] = 0.5 * A[now][i - 1] + 0.4 * A[now][i + 1];
    now ^= 1;
  }
  return now;
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 5);
  int n = (int)example_arg(argc, argv, 2, 33), m = (int)example_arg(argc, argv, 3, 17);
  size_t count = (size_t)n * m;
  double *A = example_array(count), *B = example_array(count), *C = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  example_fill(C, count);
  struct wave w = {A, B, C, n, m};
  printf("%d steps, ", wave(&w, steps));
  printf("%d %d %d\n", w.before == A, w.now == B, w.next == C);
  example_print("A", A, count);
  example_print("B", B, count);
  example_print("C", C, count);
  double *last = around(steps, n, A, B, C);
  printf("%d %d %d\n", last == A, last == B, last == C);
  example_print("A", A, count);
  example_print("B", B, count);
  example_print("C", C, count);
  double two[2][64];
  example_fill(two[0], 128);
  printf("now %d\n", toggled(steps, n, two));
  example_print("two", two[0], 128);
  return 0;
}
