// The program's promise that iterations are independent is believed where data chooses all elements of an array, and said so; the checked device finds
// a false one. A dependence that the analysis sees is kept, and so is one of another loop.
//
// RUN: %clang -O2 -g -Wno-pass-failed %s -c -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs -Rpass-analysis=pollyrs -mllvm -pollyrs-cubin=off 2>&1 | FileCheck %s
// RUN: %clang -O2 -Wno-pass-failed %s %rt %rtlibs -o %t -mllvm -pollyrs-targets=emulated-checked
// RUN: env POLLYRS_RT_DEVICE=emulated POLLYRS_RT_OFFLOAD=always POLLYRS_RT_CHECK=1 %t 1
// RUN: not --crash env POLLYRS_RT_DEVICE=emulated POLLYRS_RT_OFFLOAD=always POLLYRS_RT_CHECK=1 %t 0 2>&1 | FileCheck %s --check-prefix=FALSE
#include <stdlib.h>

// CHECK: promises.c:[[@LINE+3]]:{{.*}} believes the program that iterations of the outer loop have different elements of x [PRS043]
__attribute__((noinline)) void edges(int n, double *restrict x, const double *restrict f, const int *restrict from, const int *restrict to) {
#pragma clang loop vectorize(assume_safety)
  for (int i = 0; i < n; i++) {
    x[from[i]] += f[i];
    x[to[i]] -= f[i];
  }
}

// CHECK: promises.c:[[@LINE+3]]:{{.*}} not offloaded: no loop can run in parallel
__attribute__((noinline)) void steps(int n, double *x) {
#pragma clang loop vectorize(assume_safety)
  for (int i = 1; i < n; i++)
    x[i] = x[i - 1] * 0.5 + x[i];
}

// FALSE: race
int main(int argc, char **argv) {
  int n = 500, apart = argc > 1 && atoi(argv[1]);
  int *from = malloc(sizeof(int) * n), *to = malloc(sizeof(int) * n);
  double *x = calloc(2 * n, sizeof(double)), *f = calloc(n, sizeof(double));
  for (int i = 0; i < n; i++)
    from[i] = i, to[i] = apart ? n + i : (i + 1) % n;
  edges(n, x, f, from, to);
  steps(n, x);
  return x[3] != 0;
}
