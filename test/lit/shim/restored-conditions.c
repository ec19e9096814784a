// What is one unconditional store on the device is conditional in the host's version of the loop.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes=pollyrs -S %t.ll -o - | FileCheck %s

void f(int n, double *restrict A, double *restrict B) {
  for (int i = 0; i < n; i++) {
    if (A[i] > 0.25)
      B[i] = A[i] * 2.0;
    A[i] = B[i];
  }
}

// CHECK: define {{.*}} @f(
// CHECK: [[C:%.*]] = fcmp ogt double
// CHECK: [[V:%.*]] = fmul double
// CHECK: br i1 [[C]], label
// CHECK: store double [[V]]
// CHECK-NOT: pollyrs.conditional
