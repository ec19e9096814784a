/* The covariance matrix of M variables from N samples: means, centring, and a triangular product that fills both halves.
 * covariance [M N [SEED]] */
#include "example.h"

__attribute__((noinline)) static void covariance(int m, int n, TYPE scale, TYPE data[n][m], TYPE cov[m][m], TYPE mean[m]) {
  for (int j = 0; j < m; ++j) {
    mean[j] = 0;
    for (int i = 0; i < n; ++i)
      mean[j] += data[i][j];
    mean[j] *= scale;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      data[i][j] -= mean[j];
  for (int i = 0; i < m; ++i)
    for (int j = i; j < m; ++j) {
      cov[i][j] = 0;
      for (int k = 0; k < n; ++k)
        cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] *= scale;
      cov[j][i] = cov[i][j];
    }
}

int main(int argc, char **argv) {
  int m = (int)example_arg(argc, argv, 1, 240), n = (int)example_arg(argc, argv, 2, 300);
  long seed = example_arg(argc, argv, 3, 1);
  TYPE *data = example_array((size_t)n * m), *cov = example_array((size_t)m * m), *mean = example_array((size_t)m);
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(seed);
    example_fill(data, (size_t)n * m);
    example_fill(cov, (size_t)m * m);
    example_fill(mean, (size_t)m);
    TYPE scale = (TYPE)1 / (TYPE)(n > 0 ? n : 1);
    if (m > 0)
      covariance(m, n, scale, (TYPE(*)[m])data, (TYPE(*)[m])cov, mean);
  }
  example_print("data", data, (size_t)n * m);
  example_print("mean", mean, (size_t)m);
  example_print("cov", cov, (size_t)m * m);
  free(data);
  free(cov);
  free(mean);
  return 0;
}
