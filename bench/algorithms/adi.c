/* Alternating direction implicit steps of the heat equation: tridiagonal systems along the columns, then along the rows.
 * adi [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 6) X(2, n, 30)
#include "algorithm.h"

#define u(i, j) AT2(u, n, i, j)
#define v(i, j) AT2(v, n, i, j)
#define p(i, j) AT2(p, n, i, j)
#define q(i, j) AT2(q, n, i, j)

KERNEL(MATRIX(u, n, n), MATRIX(v, n, n), MATRIX(p, n, n), MATRIX(q, n, n)) {
  TYPE dx = (TYPE)1 / (TYPE)n, dy = (TYPE)1 / (TYPE)n, dt = (TYPE)1 / (TYPE)steps;
  TYPE mul1 = 2 * dt / (dx * dx), mul2 = dt / (dy * dy);
  TYPE a = -mul1 / 2, b = 1 + mul1, c = a;
  TYPE d = -mul2 / 2, e = 1 + mul2, f = d;
  for (INDEX t = 1; t <= steps; ++t) {
    for (INDEX i = 1; i < n - 1; ++i) {
      v(0, i) = 1;
      p(i, 0) = 0;
      q(i, 0) = v(0, i);
      for (INDEX j = 1; j < n - 1; ++j) {
        p(i, j) = -c / (a * p(i, j - 1) + b);
        q(i, j) = (-d * u(j, i - 1) + (1 + 2 * d) * u(j, i) - f * u(j, i + 1) - a * q(i, j - 1)) / (a * p(i, j - 1) + b);
      }
      v(n - 1, i) = 1;
      for (INDEX j = n - 2; j >= 1; --j)
        v(j, i) = p(i, j) * v(j + 1, i) + q(i, j);
    }
    for (INDEX i = 1; i < n - 1; ++i) {
      u(i, 0) = 1;
      p(i, 0) = 0;
      q(i, 0) = u(i, 0);
      for (INDEX j = 1; j < n - 1; ++j) {
        p(i, j) = -f / (d * p(i, j - 1) + e);
        q(i, j) = (-a * v(i - 1, j) + (1 + 2 * a) * v(i, j) - c * v(i + 1, j) - d * q(i, j - 1)) / (d * p(i, j - 1) + e);
      }
      u(i, n - 1) = 1;
      for (INDEX j = n - 2; j >= 1; --j)
        u(i, j) = p(i, j) * u(i, j + 1) + q(i, j);
    }
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  size_t size = (size_t)n * n;
  void *u = example_array(size), *v = example_array(size), *p = example_array(size), *q = example_array(size);
  REPEAT {
    example_fill(u, size);
    example_fill(v, size);
    example_fill(p, size);
    example_fill(q, size);
    CALL_KERNEL(u, v, p, q);
  }
  example_print("u", u, size);
  example_print("v", v, size);
  example_print("p", p, size);
  example_print("q", q, size);
  free(u);
  free(v);
  free(p);
  free(q);
  return 0;
}
