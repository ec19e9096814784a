// isl fails to coalesce the dependences of this function ("total dimensionality changed unexpectedly"): they stay as they are then.
//
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -Rpass=pollyrs -Rpass-missed=pollyrs %s -o %t.ll 2>&1 | FileCheck %s

// CHECK-NOT: internal error
// CHECK: offloaded p0: 5 loops, 7 statements
#include <stddef.h>
void p0(int n0, int n1, double *A) {
  for (size_t i2 = 0; i2 <= n1; i2++) {
    for (size_t i3 = 0; i3 <= n0; i3++) {
      double s1 = 0.75;
      for (size_t i5 = 2; i5 < n0; i5++)
        s1 += (A[(((((i2 * (n0 + 1)) + (i3 % 5)) * n0) + i5) * n0) + i3] * 0.4);
      A[(((((i2 * (n0 + 1)) + (i3 < 3 ? i3 : 3)) * n0) + 1) * n0) + i3] = (s1 * 0.315);
    }
    A[(((((i2 * (n0 + 1)) + (n0 - 1)) * n0) + 1) * n0) + 0] += A[(((((i2 * (n0 + 1)) + (i2 / 3)) * n0) + (i2 + i2)) * n0) + 0];
  }
  size_t k6 = 3;
  for (size_t i7 = 1; i7 < (n1 - 1); i7++) {
    for (size_t i8 = 0; i8 < (n0 / 2); i8++)
      A[(((((i7 * (n0 + 1)) + i8) * n0) + (k6 % 2)) * n0) + (k6 + k6)] += A[(((((i7 * (n0 + 1)) + i8) * n0) + 0) * n0) + (k6 / 2)];
    k6 += 2;
  }
}
