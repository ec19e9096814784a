// Loops whose place in an array is a product of values that do not change in the loop, or any offset: the place belongs to the array, and none
// of its factors is a size.
// ARGS: 16 400
// ARGS: 3 17
// OFFLOAD: yes
// KERNELS: share layer row part cache diagonal
#include "example.h"

#define N __attribute__((noinline)) static void

N share(float *a, const float *b, long n, int parts, int part) {
  long length = n / parts, first = length * part, last = part == parts - 1 ? n : first + length;
  for (long k = first; k < last; k++)
    a[k] += 2 * b[k];
}

N layer(float *a, const float *b, int l, int B, int T, int C) {
  float *x = a + l * B * T * 4 * C;
  const float *y = b + l * B * T * 4 * C;
  for (int i = 0; i < B * T * 4 * C; i++)
    x[i] += y[i];
}

N row(float *a, const float *b, int p, int t, int T, int C) {
  for (int c = 0; c < C; c++)
    a[p * T * C + t * C + c] += b[p * T * C + t * C + c];
}

N part(float *a, const float *b, int off, int n, int m) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[off + i * m + j] += b[off + i * m + j];
}

N cache(float *k, const float *w, const float *x, int l, int at, int length, int dim) {
  float *o = k + l * length * dim + at * dim;
  const float *m = w + l * dim * dim;
  for (int i = 0; i < dim; i++) {
    float s = 0;
    for (int j = 0; j < dim; j++)
      s += m[i * dim + j] * x[j];
    o[i] = s;
  }
}

__attribute__((annotate("pollyrs: on"))) N diagonal(float *a, int size, int off) {
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++)
      a[off * size + i * size + j + off] *= 0.5f;
}

int main(int argc, char **argv) {
  int t = (int)example_arg(argc, argv, 1, 16), c = (int)example_arg(argc, argv, 2, 400);
  int count = 60000;
  float *a = malloc(count * sizeof *a), *b = malloc(count * sizeof *b);
  for (int i = 0; i < count; i++) {
    a[i] = i % 17;
    b[i] = i % 13;
  }
  share(a, b, 6000, 4, 1);
  share(a, b, 6000, 4, 3);
  layer(a, b, 1, 2, t, 16);
  row(a, b, 2, 3, 10, c);
  part(a, b, 1000, 30, 40);
  part(a, b, 1013, 30, 40);
  cache(a, b + 30000, b, 1, 3, 24, 32);
  diagonal(a, 100, 16);
  double s = 0;
  for (int i = 0; i < count; i++)
    s = s * 0.5 + a[i];
  printf("%a\n", s);
  for (int i = 0; i < count; i += 997)
    printf("%a ", a[i]);
  printf("\n");
  free(a);
  free(b);
  return 0;
}
