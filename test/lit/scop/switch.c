// A switch on an affine value: comparisons, so pieces of the domain.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void f(int n, double *A) {
  for (int i = 0; i < n; i++)
    switch (i % 3) {
    case 0: A[i] = 1.0; break;
    case 1: A[i] = 2.0; break;
    default: A[i] = A[i] * 0.5;
    }
}

// CHECK: scop f
// CHECK-COUNT-3: must-write
