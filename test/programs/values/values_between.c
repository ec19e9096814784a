// Values that one loop nest computes and a later one of the function takes, where what lies between keeps them apart; sizes and products of sizes that
// both need.
// ARGS: 33 17
// ARGS: 1 1
// ARGS: 40 65
// OFFLOAD: yes
// KERNELS: entropy sieve centred
#include "example.h"

#include <string.h>

// The maximum and the sum go from the first loops to the last one, past a subscript from memory.
__attribute__((noinline)) void entropy(int n, int m, const float *z, const int *target, float *gradient, float *loss) {
  for (int i = 0; i < n; ++i) {
    float most = z[i * m];
    for (int j = 1; j < m; ++j)
      if (z[i * m + j] > most)
        most = z[i * m + j];
    float sum = 0.0f;
    for (int j = 0; j < m; ++j) {
      float d = z[i * m + j] - most;
      sum += 1.0f / (1.0f + d * d);
    }
    loss[i] = sum + most - z[i * m + target[i]];
    for (int j = 0; j < m; ++j)
      gradient[i * m + j] = (z[i * m + j] - most) / sum - (j == target[i]);
  }
}

// The size of what is filled is that of the loops behind it.
__attribute__((noinline)) void sieve(int n, char *composite) {
  memset(composite, 1, n);
  composite[0] = composite[1] = 0;
  for (int i = 2; i * i < n; ++i)
    if (composite[i])
      for (int j = i * i; j < n; j += i)
        composite[j] = 0;
}

__attribute__((noinline)) void centred(int n, int m, float *a, float *b, const int *order) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      a[i * m + j] *= 0.5f;
  float mean = 0.0f;
  for (int i = 0; i < n * m; ++i)
    mean += a[order[i]];
  mean /= (float)(n * m);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      b[i * m + j] = a[i * m + j] - mean;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  int count = n * m;
  float *z = malloc(count * sizeof *z), *gradient = malloc(count * sizeof *z), *loss = malloc(n * sizeof *z);
  int *target = malloc(n * sizeof *target), *order = malloc(count * sizeof *order);
  double *random = example_array(count);
  example_fill(random, count);
  for (int i = 0; i < count; ++i) {
    z[i] = (float)random[i];
    order[i] = (i * 7 + 3) % count;
  }
  for (int i = 0; i < n; ++i)
    target[i] = (i * 5 + 1) % m;
  entropy(n, m, z, target, gradient, loss);
  centred(n, m, z, random == NULL ? z : gradient, order);
  for (int i = 0; i < count; ++i)
    printf("%a %a\n", (double)z[i], (double)gradient[i]);
  for (int i = 0; i < n; ++i)
    printf("%a\n", (double)loss[i]);
  int bytes = 16 * n + 8;
  char *composite = malloc(bytes);
  sieve(bytes, composite);
  for (int i = 0; i < bytes; ++i)
    putchar('0' + composite[i]);
  putchar('\n');
  return 0;
}
