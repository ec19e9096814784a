// Elements of a local array are exchanged under a condition on data. Nobody else sees the array, so that keeping an element is writing it for certain;
// the same in the caller's memory is a write that may happen.

// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-scop>' -disable-output %t.ll 2>&1 | FileCheck %s

void medians(int n, const int *restrict in, int *restrict out) {
  for (int x = 0; x < n; ++x) {
    int v[9];
    for (int j = 0; j < 9; ++j)
      v[j] = in[x + j];
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8 - i; ++j)
        if (v[j] > v[j + 1]) {
          int t = v[j];
          v[j] = v[j + 1];
          v[j + 1] = t;
        }
    out[x] = v[4];
  }
}
// CHECK-LABEL: scop medians
// CHECK:       statement S1
// CHECK-NOT:   may-write
// CHECK:       must-write {{.*}} -> [[V:[a-z_0-9]+]][i2] }
// CHECK-NOT:   may-write
// CHECK:       must-write {{.*}} -> [[V]][1 + i2] }
// CHECK-NOT:   may-write

void passes(int n, int *v) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n - i; ++j)
      if (v[j] > v[j + 1]) {
        int t = v[j];
        v[j] = v[j + 1];
        v[j + 1] = t;
      }
}
// CHECK-LABEL: scop passes
// CHECK:       may-write {{.*}} -> [[A:[a-z_0-9]+]][i1] }
// CHECK:       may-write {{.*}} -> [[A]][1 + i1] }
