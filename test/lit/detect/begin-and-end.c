// Rows of a flat array from begin to end: the number of iterations is the difference of two products, if neither wraps.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void rows(int m, int n, const float *a, float *restrict o) {
  for (int i = 0; i < m; i++)
    for (int k = i * n; k < i * n + n; k++)
      o[k] = 2 * a[k];
}

// CHECK-LABEL: scop rows
// CHECK-DAG: does not wrap
// CHECK-DAG: S0[i0, i1] : 0 <= i0 < {{.*}} and 0 <= i1 < {{.*}}
