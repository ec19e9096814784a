// Checks on data that the device can't report: behind the one that fails it would go on, with addresses that may be anything, a divisor that is zero, or without an end.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

#include <stdlib.h>

void gathers(int n, int m, const int *p, const double *A, double *B) {
  for (int i = 0; i < n; i++) {
    if (p[i] < 0 || p[i] >= m)
      exit(1);
    B[i] = A[p[i]];
  }
}

// CHECK: rejected Check at {{.*}}checks.c:[[#@LINE-7]]: a check that may end the program depends on p, and beside it a subscript depends on data (at {{.*}}checks.c:[[#@LINE-6]])

void divides(int n, const int *p, int *A) {
  for (int i = 0; i < n; i++) {
    if (p[i] == 0)
      exit(1);
    A[i] /= p[i];
  }
}

// CHECK: rejected Check at {{.*}}checks.c:[[#@LINE-7]]: a check that may end the program depends on p, and beside it an integer is divided by one that may be 0 (at {{.*}}checks.c:[[#@LINE-6]])

void halves(int n, const int *p, int *A) {
  for (int i = 0; i < n; i++) {
    if (p[i] <= 0)
      exit(1);
    for (int x = A[i]; x > 3; x -= p[i])
      A[i]++;
  }
}

// CHECK-NOT: scop
// CHECK: rejected {{.*}} at {{.*}}checks.c:[[#@LINE-6]]
