// Everything in main: initialisation, kernel and sums, as in a first program.
// ARGS:
// OFFLOAD: yes
// KERNELS: main
#include "example.h"


#define N 64

int main(void) {
  static float a[N][N], b[N][N], c[N][N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      a[i][j] = (float)(i * j % 13) / 7.0f;
      b[i][j] = (float)(i - j) / 9.0f;
      c[i][j] = 0.0f;
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        c[i][j] += a[i][k] * b[k][j];
  float trace = 0.0f;
  for (int i = 0; i < N; i++)
    trace += c[i][i];
  printf("%.9g %016llx\n", trace, (unsigned long long)example_hash(c, sizeof c));
  return 0;
}
