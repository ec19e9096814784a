/* The covariance matrix of M variables from N observations; the data are centred in place.
 * covariance [M N [SEED]] */
#define SIZES(X) X(1, m, 40) X(2, n, 50)
#include "algorithm.h"

#define data(i, j) AT2(data, m, i, j)
#define cov(i, j) AT2(cov, m, i, j)

KERNEL(MATRIX(data, n, m), MATRIX(cov, m, m), VECTOR(mean, m)) {
  TYPE count = (TYPE)n;
  for (INDEX j = 0; j < m; ++j) {
    mean[j] = 0;
    for (INDEX i = 0; i < n; ++i)
      mean[j] += data(i, j);
    mean[j] /= count;
  }
  for (INDEX i = 0; i < n; ++i)
    for (INDEX j = 0; j < m; ++j)
      data(i, j) -= mean[j];
  for (INDEX i = 0; i < m; ++i)
    for (INDEX j = i; j < m; ++j) {
      cov(i, j) = 0;
      for (INDEX k = 0; k < n; ++k)
        cov(i, j) += data(k, i) * data(k, j);
      cov(i, j) /= count - 1;
      cov(j, i) = cov(i, j);
    }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *data = example_array((size_t)n * m), *cov = example_array((size_t)m * m), *mean = example_array(m);
  REPEAT {
    example_fill(data, (size_t)n * m);
    CALL_KERNEL(data, cov, mean);
  }
  example_print("data", data, (size_t)n * m);
  example_print("cov", cov, (size_t)m * m);
  example_print("mean", mean, m);
  free(data);
  free(cov);
  free(mean);
  return 0;
}
