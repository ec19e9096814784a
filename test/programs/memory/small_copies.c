// Structures that are assigned, and arrays of a few cells that are cleared or copied in each iteration: memory intrinsics of constant length.
// ARGS: 33 17
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 65 40
// OFFLOAD: yes
#include "example.h"

struct body {
  double x[3], v[3], m;
};
struct pixel {
  unsigned char r, g, b, a[13];
};

__attribute__((noinline)) static void attract(int n, const struct body *restrict from, struct body *restrict to, double dt) {
  for (int i = 0; i < n; ++i) {
    double force[3] = {0, 0, 0};
    struct body own = from[i];
    for (int j = 0; j < n; ++j) {
      double d[3], r = 0.01;
      for (int k = 0; k < 3; ++k) {
        d[k] = from[j].x[k] - own.x[k];
        r += d[k] * d[k];
      }
      for (int k = 0; k < 3; ++k)
        force[k] += from[j].m * d[k] / r;
    }
    for (int k = 0; k < 3; ++k) {
      own.v[k] += dt * force[k];
      own.x[k] += dt * own.v[k];
    }
    to[i] = own;
  }
}

__attribute__((noinline)) static void mirror(int n, int m, const struct pixel *restrict in, struct pixel *restrict out) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      out[i * m + j] = in[i * m + m - 1 - j];
      out[i * m + j].a[2] = (unsigned char)(i + j);
    }
}

__attribute__((noinline)) static void counts(int n, int m, const double *a, int *c) {
  for (int i = 0; i < n; ++i) {
    int seen[48];
    memset(seen, 0, sizeof seen);
    for (int j = 0; j < m; ++j)
      seen[j % 48] += a[i * m + j] > 0.0 ? 1 + j : -1;
    for (int j = 0; j < 48; ++j)
      c[i * 48 + j] = seen[j];
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t cells = (size_t)n * sizeof(struct body) / sizeof(double), count = (size_t)n * m;
  double *a = example_array(cells), *b = example_array(cells);
  example_fill(a, cells);
  example_fill(b, cells);
  for (int t = 0; t < 2; ++t) {
    attract(n, (struct body *)a, (struct body *)b, 0.1);
    attract(n, (struct body *)b, (struct body *)a, 0.1);
  }
  example_print("bodies", a, cells);
  double *in = example_array(2 * count), *out = example_array(2 * count);
  example_fill(in, 2 * count);
  mirror(n, m, (struct pixel *)in, (struct pixel *)out);
  printf("pixels %llx\n", (unsigned long long)example_hash(out, count * sizeof(struct pixel)));
  int *c = malloc((size_t)n * 48 * sizeof(int));
  counts(n, m, in, c);
  printf("counts %llx\n", (unsigned long long)example_hash(c, (size_t)n * 48 * sizeof(int)));
  return 0;
}
