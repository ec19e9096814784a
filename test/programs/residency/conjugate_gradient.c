// The method of conjugate gradients for a sparse matrix in compressed rows, as textbooks write it: its loops run on the device in each step, with sums in the program's order.
// ARGS: 20 30
// ARGS: 1 3
// OFFLOAD: yes
// MOVED: 27844 294400
// INSPECTED: 1
// KERNELS: solve
#include "example.h"

/* Solves A x = b to a residual of `small`, in at most `most` steps; the number of steps. */
__attribute__((noinline)) static int solve(int n, const int *restrict ptr, const int *restrict col, const TYPE *restrict val, const TYPE *restrict b, TYPE *restrict x, int most, TYPE small) {
  TYPE *r = malloc((size_t)n * sizeof *r), *p = malloc((size_t)n * sizeof *p), *q = malloc((size_t)n * sizeof *q);
  TYPE rho = 0;
  for (int i = 0; i < n; i++) {
    x[i] = 0;
    r[i] = b[i];
    p[i] = r[i];
  }
  for (int i = 0; i < n; i++)
    rho += r[i] * r[i];
  int step = 0;
  for (; step < most && rho > small; step++) {
    for (int i = 0; i < n; i++) {
      TYPE s = 0;
      for (int k = ptr[i]; k < ptr[i + 1]; k++)
        s += val[k] * p[col[k]];
      q[i] = s;
    }
    TYPE pq = 0;
    for (int i = 0; i < n; i++)
      pq += p[i] * q[i];
    TYPE alpha = rho / pq;
    for (int i = 0; i < n; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    TYPE next = 0;
    for (int i = 0; i < n; i++)
      next += r[i] * r[i];
    TYPE beta = next / rho;
    rho = next;
    for (int i = 0; i < n; i++)
      p[i] = r[i] + beta * p[i];
  }
  free(r), free(p), free(q);
  return step;
}

int main(int argc, char **argv) {
  int g = (int)example_arg(argc, argv, 1, 20), most = (int)example_arg(argc, argv, 2, 30), n = g * g, e = 0;
  int *ptr = malloc(((size_t)n + 1) * sizeof *ptr), *col = malloc(5 * (size_t)n * sizeof *col);
  TYPE *val = example_array(5 * (size_t)n), *b = example_array((size_t)n), *x = example_array((size_t)n);
  /* The five points of a grid. */
  for (int i = 0; i < n; i++) {
    ptr[i] = e;
    if (i >= g)
      val[e] = -1, col[e++] = i - g;
    if (i % g)
      val[e] = -1, col[e++] = i - 1;
    val[e] = (TYPE)4.1, col[e++] = i;
    if (i % g < g - 1)
      val[e] = -1, col[e++] = i + 1;
    if (i + g < n)
      val[e] = -1, col[e++] = i + g;
  }
  ptr[n] = e;
  example_fill(b, (size_t)n);
  int steps = solve(n, ptr, col, val, b, x, most, (TYPE)1e-9);
  x[0] += (TYPE)steps;
  example_print("x", x, (size_t)n);
  return 0;
}
