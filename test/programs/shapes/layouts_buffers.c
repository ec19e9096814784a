// Buffers that hold several things: rings of rows with modulo, a structure of arrays, the levels of an image pyramid, ghost cells behind a
// pointer that points inside.
// ARGS: 13 18 5
// ARGS: 1 1 1
// ARGS: 0 0 3
// ARGS: 32 64 9
// OFFLOAD: yes
// KERNELS: ring shift_ring particles fields reduce_level relax
#include "example.h"

// The last rows of a signal, in a ring of `depth` of them.
__attribute__((noinline)) static void ring(int steps, int n, int depth, const double *in, double *rows) {
  for (int t = 0; t < steps; t++)
    for (int i = 0; i < n; i++)
      rows[(t % 4) * n + i] = in[t * n + i] * 0.5 + i;
}

// One turn of a ring from any head.
__attribute__((noinline)) static void shift_ring(int cap, int head, const double *ring, double *out) {
  for (int k = 0; k < cap; k++)
    out[k] = ring[(head + k) % cap] * 2.0;
}

__attribute__((noinline)) static void particles(int n, double dt, double *buffer) {
  double *x = buffer, *y = buffer + n, *u = buffer + 2 * (size_t)n, *v = buffer + 3 * (size_t)n;
  for (int i = 0; i < n; i++) {
    x[i] += dt * u[i];
    y[i] += dt * v[i];
    u[i] *= 0.5;
    v[i] -= dt;
  }
}

__attribute__((noinline)) static void fields(int n, int m, double *f) {
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        f[(k * n + i) * m + j] = f[(k * n + i) * m + j] * 0.5 + f[(3 * n + i) * m + j];
}

__attribute__((noinline)) static void reduce_level(int h, int w, const double *fine, double *coarse) {
  for (int y = 0; y < h / 2; y++)
    for (int x = 0; x < w / 2; x++)
      coarse[y * (w / 2) + x] =
          0.25 * (fine[2 * y * w + 2 * x] + fine[2 * y * w + 2 * x + 1] + fine[(2 * y + 1) * w + 2 * x] + fine[(2 * y + 1) * w + 2 * x + 1]);
}

__attribute__((noinline)) static void pyramid(int h, int w, double *levels) {
  size_t at = 0;
  while (h > 1 && w > 1) {
    size_t next = at + (size_t)h * w;
    for (int y = 0; y < h / 2; y++)
      for (int x = 0; x < w / 2; x++)
        levels[next + y * (w / 2) + x] = 0.5 * (levels[at + 2 * y * w + 2 * x] + levels[at + (2 * y + 1) * w + 2 * x + 1]);
    at = next;
    h /= 2;
    w /= 2;
  }
}

__attribute__((noinline)) static void relax(int n, int m, double *restrict v, const double *restrict whole) {
  int ld = m + 2;
  const double *u = whole + ld + 1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      v[i * m + j] = 0.25 * (u[(i - 1) * ld + j] + u[(i + 1) * ld + j] + u[i * ld + j - 1] + u[i * ld + j + 1]);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 13), m = (int)example_arg(argc, argv, 2, 18), head = (int)example_arg(argc, argv, 3, 5);
  size_t count = (size_t)(n + 2) * (m + 2), all = 4 * count + 64;
  double *a = example_array(all), *b = example_array(all);
  example_fill(a, all);
  example_fill(b, all);
  ring(n, m, 4, a, b);
  example_print("ring", b, all);
  if (n)
    shift_ring(n, head % n, a, b);
  example_print("turn", b, all);
  particles(n, 0.25, a);
  fields(n, m, a);
  example_print("fields", a, all);
  reduce_level(n, m, a, b);
  pyramid(n, m, a);
  example_print("levels", a, all);
  relax(n, m, b, a);
  example_print("b", b, all);
  free(a);
  free(b);
  return 0;
}
