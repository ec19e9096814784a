// A branch on data whose location is accessed in any case: on the device an unconditional
// write of the new or the old value; in the model a may-write, so that only what changes comes back.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void f(int n, double *restrict A, double *restrict B) {
  for (int i = 0; i < n; i++) {
    if (A[i] > 0.25)
      B[i] = A[i] * 2.0;
    A[i] = B[i];
  }
}

// CHECK: scop f
// CHECK-NOT: assume
// CHECK: domain [n] -> { S0[i0] : 0 <= i0 < n }
// CHECK-DAG: read [n] -> { S0[i0] -> A[i0] }
// CHECK-DAG: read [n] -> { S0[i0] -> B[i0] }
// CHECK-DAG: may-write [n] -> { S0[i0] -> B[i0] }
// CHECK: must-write [n] -> { S1[i0] -> A[i0] }
