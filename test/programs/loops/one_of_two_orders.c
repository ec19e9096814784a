// Nests that access an array in one order or another, by a flag: a nest for each.
// ARGS: 0 0 0
// ARGS: 1 1 1
// ARGS: 33 17 2
// ARGS: 200 70 3
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void turn(const float *restrict x, float *restrict s, int size, int layers, int batch, int forward) {
  for (int b = 0; b < batch; b++)
    for (int c = 0; c < layers; c++)
      for (int i = 0; i < size; i++) {
        int planes = b * layers * size + c * size + i, pixels = b * layers * size + i * layers + c;
        if (forward)
          s[pixels] = x[planes];
        else
          s[planes] = x[pixels];
      }
}

__attribute__((noinline)) static void chosen(const float *restrict x, float *restrict y, int n, int m, int transposed, const float *bias) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float v = x[transposed ? j * n + i : i * m + j];
      if (bias)
        v += bias[i];
      y[i * m + j] += v;
    }
}

__attribute__((noinline)) static void placed(const float *restrict x, float *restrict y, int n, int m, int p, int q) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[p < q ? j * n + i : i * m + j] = x[i * m + j] + 1;
}

int main(int argc, char **argv) {
  int size = (int)example_arg(argc, argv, 1, 40), layers = (int)example_arg(argc, argv, 2, 30), batch = (int)example_arg(argc, argv, 3, 2);
  long cells = (long)size * layers * batch;
  float *x = malloc((cells + 1) * sizeof *x), *s = calloc(cells + 1, sizeof *s), *y = calloc(cells + 1, sizeof *y);
  for (long k = 0; k < cells; k++)
    x[k] = (float)example_uniform();
  turn(x, s, size, layers, batch, 1);
  turn(s, y, size, layers, batch, 0);
  printf("%d\n", memcmp(x, y, cells * sizeof *x));
  turn(x, s, size, layers, batch, 0);
  chosen(x, s, size, layers * batch, 1, NULL);
  chosen(x, s, size, layers * batch, 0, x);
  for (int p = 0; p < 3; p++) {
    placed(s, y, size, layers * batch, p, 1);
    printf("%016llx\n", (unsigned long long)example_hash(y, cells * sizeof *y));
  }
  printf("%016llx\n", (unsigned long long)example_hash(s, cells * sizeof *s));
  return 0;
}
