// Rows that are added up, moved by their mean and scaled: steps of a block that has them in shared memory. What is counted may be regrouped.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void normalise(int n, int m, const float (*restrict x)[m], float (*restrict y)[m]) {
  for (int i = 0; i < n; i++) {
    float mean = 0, most = 1;
    int above = 0;
    for (int j = 0; j < m; j++)
      above += x[i][j] > 2;
    for (int j = 0; j < m; j++)
      mean += x[i][j];
    mean /= m;
    for (int j = 0; j < m; j++)
      y[i][j] = x[i][j] - mean;
    for (int j = 0; j < m; j++)
      most += y[i][j] * y[i][j];
    for (int j = 0; j < m; j++)
      y[i][j] /= most + above;
  }
}

int main(void) {
  enum { N = 133, M = 150 };
  float *x = malloc(sizeof(float) * N * M), *y = malloc(sizeof(float) * N * M);
  for (int i = 0; i < N * M; i++)
    x[i] = (float)(i * 7 % 31) * 0.125f;
  normalise(N, M, (void *)x, (void *)y);
  double sum = 0;
  for (int i = 0; i < N * M; i++)
    sum += y[i] * (double)(i % 13);
  printf("%.17g\n", sum);
  free(x);
  free(y);
  return 0;
}
