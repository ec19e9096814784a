// Parts of one array at places that are arguments: a workspace, planes that are chosen by a number, a shift. They run on the device where no two iterations touch one element:
// where the places are far enough apart, in either order, or the same; by one element less the original loop runs, which reads what it wrote.
// ARGS: 100 400 0
// ARGS: 100 0 400
// ARGS: 100 100 0
// ARGS: 100 99 0
// ARGS: 100 0 100
// ARGS: 100 0 99
// ARGS: 100 7 7
// ARGS: 100 1 0
// ARGS: 100 0 1
// ARGS: 1 3 2
// ARGS: 0 0 0
// OFFLOAD: partial
// FALLBACK: no iteration accesses what another one writes
// KERNELS: parts shifted exchanged products planes field every_other summed
#include "example.h"

__attribute__((noinline)) static void parts(int n, int p, int q, TYPE *w) {
  for (int i = 0; i < n; i++)
    w[p + i] = w[q + i] * 2 + 1;
}

__attribute__((noinline)) static void shifted(int n, int k, TYPE *a) {
  for (int i = 0; i < n; i++)
    a[i] = a[i + k] * 2 + 1;
}

__attribute__((noinline)) static void exchanged(int n, int half, TYPE *a) {
  for (int i = 0; i < n; i++) {
    TYPE t = a[i + half];
    a[i + half] = a[i] - t;
    a[i] += t;
  }
}

__attribute__((noinline)) static void products(int n, int p, int q, TYPE *w, const TYPE *d) {
  for (int i = 0; i < n; i++) {
    w[p + i] = 0;
    for (int j = 0; j < n; j++)
      w[p + i] += d[i * n + j] * w[q + j];
  }
}

__attribute__((noinline)) static void planes(int n, int now, int old, TYPE *a) {
  TYPE(*u)[n + 2] = (void *)a;
  for (int i = 1; i <= n; i++)
    u[now][i] = u[old][i - 1] + u[old][i + 1];
}

struct pool {
  int to, from;
  TYPE *memory;
};

__attribute__((noinline)) static void field(int n, struct pool *s) {
  for (int i = 0; i < n; i++)
    s->memory[s->to + i] = s->memory[s->from + i] + 1;
}

__attribute__((noinline)) static void every_other(int n, int p, TYPE *a) {
  for (int i = 0; i < n; i++)
    a[2 * i + p] = a[2 * i] * (TYPE)0.5;
}

__attribute__((noinline)) static void summed(int n, unsigned p, unsigned q, TYPE *w, const TYPE *d) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      w[p + i] += w[q + j] * d[i];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 100), p = (int)example_arg(argc, argv, 2, 400), q = (int)example_arg(argc, argv, 3, 0);
  size_t size = 4096, squares = (size_t)n * (size_t)n + 1;
  TYPE *w = example_array(size), *d = example_array(squares);
  example_fill(d, squares);
  struct pool s = {p, q, w};
  for (int k = 0; k < 8; k++) {
    example_fill(w, size);
    switch (k) {
    case 0: parts(n, p, q, w); break;
    case 1: shifted(n, p - q < 0 ? q - p : p - q, w); break;
    case 2: exchanged(n, p - q < 0 ? q - p : p - q, w); break;
    case 3: products(n, p, q, w, d); break;
    case 4: planes(n, p % 3, q % 3, w); break;
    case 5: field(n, &s); break;
    case 7: summed(n, (unsigned)p, (unsigned)q, w, d); break;
    case 6: every_other(n, p - q < 0 ? q - p : p - q, w); break;
    }
    example_print("w", w, size);
  }
}
