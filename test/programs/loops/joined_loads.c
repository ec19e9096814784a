// Neighbours that branches choose in global arrays: LLVM makes one load of an address that depends on the branch. Two, three and nested branches,
// one without an else, and a store between the branch and the load.
// ARGS: 1
// ARGS: 3
// OFFLOAD: yes
// KERNELS: upwind limited three nested maybe marked stored
#include "example.h"

#define NI 64
#define NJ 48
#define KERNEL __attribute__((noinline)) static void
typedef double grid_t[NJ][NI];
static grid_t u, t, f, g;

KERNEL upwind(double dt) {
  for (int j = 1; j < NJ - 1; j++)
    for (int i = 1; i < NI - 1; i++) {
      double e = 0.5 * (u[j][i] + u[j][i + 1]), w = 0.5 * (u[j][i] + u[j][i - 1]);
      double out = e > 0 ? e * t[j][i] : e * t[j][i + 1], in = w > 0 ? w * t[j][i - 1] : w * t[j][i];
      f[j][i] = t[j][i] - dt * (out - in);
    }
}

KERNEL limited(void) {
  for (int j = 2; j < NJ - 2; j++)
    for (int i = 2; i < NI - 2; i++) {
      double r;
      if (u[j][i] > 0)
        r = t[j][i - 1] - t[j][i - 2];
      else
        r = t[j][i + 1] - t[j][i + 2];
      g[j][i] = r > 0.1 ? 0.1 : r;
    }
}

KERNEL three(void) {
  for (int j = 1; j < NJ - 1; j++)
    for (int i = 1; i < NI - 1; i++) {
      double v;
      if (u[j][i] > 0.25)
        v = u[j][i] * t[j][i + 1];
      else if (u[j][i] < -0.25)
        v = u[j][i] * t[j][i - 1];
      else
        v = u[j][i] * t[j + 1][i];
      f[j][i] = v;
    }
}

KERNEL nested(void) {
  for (int j = 1; j < NJ - 1; j++)
    for (int i = 1; i < NI - 1; i++)
      if (t[j][i] > 0)
        f[j][i] += g[j][i] > 0 ? u[j][i] * t[j - 1][i] : u[j][i] * g[j - 1][i];
}

KERNEL maybe(void) {
  for (int j = 1; j < NJ; j++)
    for (int i = 0; i < NI; i++) {
      double *at = &t[j][i];
      if (u[j][i] > 0)
        at = &t[j - 1][NI - 1 - i];
      g[j][i] = *at * 0.5;
    }
}

KERNEL marked(void) {
  for (int j = 1; j < NJ; j++)
    for (int i = 0; i < NI; i++) {
      double *at = &t[j][i];
      if (u[j][i] > 0) {
        f[j][i] += 1;
        at = &t[j - 1][NI - 1 - i];
      }
      g[j][i] = *at * 0.5;
    }
}

KERNEL stored(void) {
  for (int j = 1; j < NJ - 1; j++)
    for (int i = 0; i < NI; i++) {
      double *at;
      if (u[j][i] > 0)
        at = &g[j - 1][i];
      else
        at = &f[j + 1][i];
      g[j][i] = 0.25;
      f[j][i] = *at + u[j][i];
    }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1);
  example_fill(&u[0][0], NI * NJ);
  example_fill(&t[0][0], NI * NJ);
  example_fill(&f[0][0], NI * NJ);
  example_fill(&g[0][0], NI * NJ);
  for (int s = 0; s < n; s++) {
    upwind(0.1);
    example_print("upwind", &f[0][0], NI * NJ);
    limited();
    example_print("limited", &g[0][0], NI * NJ);
    three();
    example_print("three", &f[0][0], NI * NJ);
    nested();
    example_print("nested", &f[0][0], NI * NJ);
    maybe();
    example_print("maybe", &g[0][0], NI * NJ);
    marked();
    example_print("marked", &f[0][0], NI * NJ);
    example_print("marked", &g[0][0], NI * NJ);
    stored();
    example_print("stored", &f[0][0], NI * NJ);
    example_print("stored", &g[0][0], NI * NJ);
  }
  return 0;
}
