/* The correlation matrix of M variables from N observations; the data are normalised in place.
 * correlation [M N [SEED]] */
#define SIZES(X) X(1, m, 40) X(2, n, 50)
#include "algorithm.h"

#define data(i, j) AT2(data, m, i, j)
#define corr(i, j) AT2(corr, m, i, j)

KERNEL(MATRIX(data, n, m), MATRIX(corr, m, m), VECTOR(mean, m), VECTOR(stddev, m)) {
  TYPE count = (TYPE)n, eps = (TYPE)0.1;
  for (INDEX j = 0; j < m; ++j) {
    mean[j] = 0;
    for (INDEX i = 0; i < n; ++i)
      mean[j] += data(i, j);
    mean[j] /= count;
  }
  for (INDEX j = 0; j < m; ++j) {
    stddev[j] = 0;
    for (INDEX i = 0; i < n; ++i)
      stddev[j] += (data(i, j) - mean[j]) * (data(i, j) - mean[j]);
    stddev[j] /= count;
    stddev[j] = SQRT(stddev[j]);
    /* A variable that is nearly constant would divide by nearly zero. */
    stddev[j] = stddev[j] <= eps ? 1 : stddev[j];
  }
  for (INDEX i = 0; i < n; ++i)
    for (INDEX j = 0; j < m; ++j) {
      data(i, j) -= mean[j];
      data(i, j) /= SQRT(count) * stddev[j];
    }
  for (INDEX i = 0; i < m - 1; ++i) {
    corr(i, i) = 1;
    for (INDEX j = i + 1; j < m; ++j) {
      corr(i, j) = 0;
      for (INDEX k = 0; k < n; ++k)
        corr(i, j) += data(k, i) * data(k, j);
      corr(j, i) = corr(i, j);
    }
  }
  corr(m - 1, m - 1) = 1;
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *data = example_array((size_t)n * m), *corr = example_array((size_t)m * m);
  void *mean = example_array(m), *stddev = example_array(m);
  REPEAT {
    example_fill(data, (size_t)n * m);
    CALL_KERNEL(data, corr, mean, stddev);
  }
  example_print("data", data, (size_t)n * m);
  example_print("corr", corr, (size_t)m * m);
  example_print("mean", mean, m);
  example_print("stddev", stddev, m);
  free(data);
  free(corr);
  free(mean);
  free(stddev);
  return 0;
}
