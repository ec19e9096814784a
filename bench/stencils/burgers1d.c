/* Transport of a value by itself (the viscous Burgers' equation), with differences of fourth order.
 * burgers1d [STEPS N [SEED]] */
#define SIZES(X) X(1, steps, 10) X(2, n, 700)
#include "stencil.h"

KERNEL(TYPE u[n], TYPE v[n]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 2; i < n - 2; ++i)
      v[i] = u[i] - (TYPE)0.01 * u[i] * (u[i - 2] - (TYPE)8 * u[i - 1] + (TYPE)8 * u[i + 1] - u[i + 2]) +
             (TYPE)0.02 * ((TYPE)16 * (u[i - 1] + u[i + 1]) - u[i - 2] - u[i + 2] - (TYPE)30 * u[i]);
    for (int i = 2; i < n - 2; ++i)
      u[i] = v[i];
  }
}

int main(int argc, char **argv) {
  READ_SIZES;
  void *u = example_array(n), *v = example_array(n);
  REPEAT {
    fill_levels(u, 1, n);
    fill_levels(v, 1, n);
    CALL_KERNEL(u, v);
  }
  example_print("u", u, n);
  free(u);
  free(v);
  return 0;
}
