/* Single systems whose steps depend on each other: factorisations, triangular solves.
 * graphs KERNEL 1 N [SEED]: a system of size N. EXAMPLE_REPEAT in the environment: how often, each time on fresh data. */
#include "../examples/example.h"
#include <math.h>

#define KERNEL(name) __attribute__((noinline)) static void name(int n, TYPE a[n][n], TYPE x[n], TYPE b[n])

/* By rows, as in textbooks. */
KERNEL(cholesky) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
    for (int k = 0; k < i; k++)
      a[i][i] -= a[i][k] * a[i][k];
    a[i][i] = sizeof(TYPE) == 4 ? (TYPE)sqrtf((float)a[i][i]) : (TYPE)sqrt((double)a[i][i]);
  }
}

KERNEL(lu) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
      a[i][k] /= a[k][k];
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        a[i][j] -= a[i][k] * a[k][j];
  }
}

/* LU by rows. */
KERNEL(doolittle) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        a[i][j] -= a[i][k] * a[k][j];
      a[i][j] /= a[j][j];
    }
    for (int j = i; j < n; j++)
      for (int k = 0; k < i; k++)
        a[i][j] -= a[i][k] * a[k][j];
  }
}

/* L D L^T, the lower half. */
KERNEL(ldl) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j <= i; j++)
        a[i][j] -= a[i][k] * a[j][k] / a[k][k];
    for (int i = k + 1; i < n; i++)
      a[i][k] /= a[k][k];
  }
}

KERNEL(solve) {
  for (int i = 0; i < n; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= a[i][j] * x[j];
    x[i] /= a[i][i];
  }
}

KERNEL(columns) {
  for (int k = 0; k < n; k++) {
    x[k] /= a[k][k];
    for (int i = k + 1; i < n; i++)
      x[i] -= a[i][k] * x[k];
  }
}

/* As many right-hand sides as unknowns. */
KERNEL(sides) {
  TYPE(*y)[n] = (void *)x;
  (void)b;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < i; k++)
        y[i][j] -= a[i][k] * y[k][j];
      y[i][j] /= a[i][i];
    }
}

static const struct {
  const char *name;
  void (*run)(int n, TYPE a[n][n], TYPE x[n], TYPE b[n]);
} kernels[] = {{"cholesky", cholesky}, {"lu", lu}, {"doolittle", doolittle}, {"ldl", ldl}, {"solve", solve}, {"columns", columns}, {"sides", sides}};

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  int n = atoi(argv[3]);
  const char *again = getenv("EXAMPLE_REPEAT");
  size_t count = (size_t)n * (size_t)n;
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    if (strcmp(argv[1], kernels[i].name))
      continue;
    TYPE *a = example_array(count), *x = example_array(count), *b = example_array((size_t)n);
    for (int t = 0; t < (again ? atoi(again) : 1); t++) {
      example_seed(argc > 4 ? atol(argv[4]) : 1);
      example_fill(a, count);
      example_fill(x, count);
      example_fill(b, (size_t)n);
      for (int d = 0; d < n; d++)
        a[(size_t)d * (size_t)n + (size_t)d] += (TYPE)(2 * n);
      kernels[i].run(n, (void *)a, x, b);
    }
    example_print("a", a, count);
    example_print("x", x, count);
    return 0;
  }
  return 2;
}
