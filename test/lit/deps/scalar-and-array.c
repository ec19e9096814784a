// A chain through an array gives flow, a copy back gives anti dependences of distance zero and one.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-deps>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: flow
// CHECK-NEXT:  { S0[i0] -> S0[1 + i0] : {{.*}} }
// CHECK-LABEL: anti
// CHECK-NEXT:  output
// CHECK-NEXT:  no source
// CHECK-NEXT:  { S0[0] -> {{.*}}[0] : {{.*}} }
void chain(int n, double *A) {
  for (int i = 1; i < n; i++)
    A[i] = 0.5 * A[i - 1];
}
