// A counter or pointer that two loops of an iteration advance, each of which may not run, is known between them.
// ARGS: 0 0 0
// ARGS: 1 0 2
// ARGS: 0 3 5
// ARGS: 33 17 20
// ARGS: 300 70 41
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void join(int nx, const float *x, int ny, const float *y, int rows, float *restrict out) {
  int k = 0;
  for (int j = 0; j < rows; j++) {
    for (int i = 0; i < nx; i++)
      out[k++] = x[j * nx + i];
    for (int i = 0; i < ny; i++)
      out[k++] = y[j * ny + i];
  }
}

__attribute__((noinline)) static void part(int nx, float *restrict x, int ny, float *restrict y, int rows, const float *restrict from) {
  for (int j = 0; j < rows; j++) {
    for (int i = 0; i < nx; i++)
      x[j * nx + i] += *from++;
    from++;
    for (int i = 0; i < ny; i++)
      y[j * ny + i] -= *from++;
  }
}

int main(int argc, char **argv) {
  int nx = (int)example_arg(argc, argv, 1, 40), ny = (int)example_arg(argc, argv, 2, 30), rows = (int)example_arg(argc, argv, 3, 20);
  long all = (long)(nx + ny + 1) * rows + 1;
  float *x = malloc(all * sizeof *x), *y = malloc(all * sizeof *y), *out = calloc(all, sizeof *out);
  for (long k = 0; k < all; k++)
    x[k] = (float)example_uniform(), y[k] = (float)example_uniform();
  join(nx, x, ny, y, rows, out);
  part(nx, x, ny, y, rows, out);
  join(nx, x, ny, y, rows, out);
  printf("%016llx %016llx %016llx\n", (unsigned long long)example_hash(x, all * sizeof *x), (unsigned long long)example_hash(y, all * sizeof *y),
         (unsigned long long)example_hash(out, all * sizeof *out));
  return 0;
}
