// Two conditions on data before one else branch: one condition, computed in any case.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void f(int n, double *restrict A, double *restrict B) {
  for (int i = 0; i < n; i++) {
    double x = A[i], y = B[i];
    if (x > 0.25 && x * y > -0.75)
      B[i] = x * 2.0;
    else
      A[i] = y - x;
  }
}

// CHECK: scop f
// CHECK: S0[i0] : 0 <= i0 < n
// CHECK-DAG: may-write [n] -> { S{{[01]}}[i0] -> B[i0] }
// CHECK-DAG: may-write [n] -> { S{{[01]}}[i0] -> A[i0] }
