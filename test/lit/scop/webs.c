// An accumulator that passes several joins of ways through an iteration has one cell, and no statement only copies it; two values that are alive at once have
// one each.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-scop>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop window
// CHECK-COUNT-1: (phi)
// CHECK-NOT: (phi)
// CHECK: S[[U:[0-9]+]][i0, i1] -> [[CELL:phi[a-z0-9_]+]][i0]
// CHECK-NEXT: must-write {{.*}} S[[U]][i0, i1] -> [[CELL]][i0]
// CHECK-NEXT: statement
// CHECK-NEXT: domain
// CHECK-NEXT: must-write {{.*}} -> argument_5[i0]
void window(int n, int k, int pad, const double *restrict a, const double *restrict w, double *restrict out) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int p = 0; p < k; p++) {
      int at = i + p - pad;
      if (at < 0)
        continue;
      if (at >= n)
        continue;
      s += a[at] * w[p];
    }
    out[i] = s;
  }
}

// CHECK-LABEL: scop before_and_after
// CHECK-COUNT-2: (phi)
void before_and_after(int n, const double *restrict a, double *restrict out) {
  double before = 0, now = 1;
  for (int i = 0; i < n; i++) {
    out[i] = before;
    double next = now;
    if (i != 5)
      next = now + before * a[i];
    before = now;
    now = next;
  }
}
