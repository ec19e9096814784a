// Overlap is checked for pairs of which one is written, once each: not between the two that are only read, and not for accesses of one base.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-host>,verify' -disable-output %t.ll 2>&1 | FileCheck %s --implicit-check-not="icmp ule i64"

void step(int n, double *A, const double *x, const double *y) {
  double *second = A + n;
  for (int i = 0; i < n; i++) {
    A[i] += x[i] * y[i];
    second[i] -= x[i];
  }
}

// A and x.
// CHECK:      icmp ule i64
// CHECK-NEXT: icmp ule i64
// CHECK-NEXT: or i1
// A and y.
// CHECK:      icmp ule i64
// CHECK-NEXT: icmp ule i64
// CHECK-NEXT: or i1
