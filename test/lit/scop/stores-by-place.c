// Stores to elements that a list names, with repeats, get a version by places in which the last iteration's value stays: it stores each element once.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop stored.1
// CHECK: may-write {{.*}} { S1[i0] -> f[pollyrs_groups_2 + i0]
// CHECK-LABEL: scop stored.2
// CHECK: all different
void stored(int n, const int *restrict list, const double *restrict v, double *restrict f) {
  for (int i = 0; i < n; i++)
    f[list[i]] = v[i];
}

// CHECK-LABEL: scop marks.1
// CHECK: may-write {{.*}} { S1[i0] -> mark[pollyrs_groups_2 + i0]
void marks(int n, const int *restrict list, int *restrict mark) {
  for (int i = 0; i < n; i++)
    mark[list[i]] = 1;
}
