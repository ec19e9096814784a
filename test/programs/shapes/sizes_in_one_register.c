// Sizes that calling conventions pass two in a register: rows of a structure of two or three numbers, and an offset of planes.
// ARGS: 0 0 0 0
// ARGS: 1 1 1 2
// ARGS: 33 17 2 5
// ARGS: 600 301 1 1
// OFFLOAD: yes
#include "example.h"

struct extent { int x, y; };
struct volume { int x, y, z; };
struct small { short x, y, of, step; };

__attribute__((noinline)) static void planes(struct volume g, int k, const float *a, int n, float *e) {
  for (int j = 0; j < g.y; j++)
    for (int i = 0; i < g.x; i++) {
      float sum = 0;
      for (int m = 0; m < n; m++)
        sum += a[m] * i;
      e[g.x * g.y * k + g.x * j + i] = sum;
    }
}

__attribute__((noinline)) static void transposed(struct extent g, const float *restrict a, float *restrict b) {
  for (int j = 0; j < g.y; j++)
    for (int i = 0; i < g.x; i++)
      b[i * g.y + j] = a[j * g.x + i];
}

__attribute__((noinline)) static void strided(struct small g, float *a) {
  for (int j = 0; j < g.y; j++)
    for (int i = 0; i < g.x; i++)
      a[(j * g.x + i) * g.step + g.of] *= 1.5f;
}

int main(int argc, char **argv) {
  int x = (int)example_arg(argc, argv, 1, 40), y = (int)example_arg(argc, argv, 2, 30);
  int z = (int)example_arg(argc, argv, 3, 2), n = (int)example_arg(argc, argv, 4, 3);
  long cells = (long)(x < 0 ? 0 : x) * y * (z + 1) + 8;
  float *a = malloc((cells + n) * sizeof *a), *e = calloc(cells, sizeof *e);
  for (long k = 0; k < cells + n; k++)
    a[k] = (float)example_uniform();
  for (int k = 0; k < z; k++)
    planes((struct volume){x, y, z}, k, a, n, e);
  transposed((struct extent){x, y}, e, a);
  strided((struct small){(short)x, (short)y, 1, 2}, a);
  printf("%016llx %016llx\n", (unsigned long long)example_hash(a, cells * sizeof *a), (unsigned long long)example_hash(e, cells * sizeof *e));
  return 0;
}
