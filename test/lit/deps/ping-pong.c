// Each half step reads what the other one wrote: flow within a time step and to the next one,
// anti dependences to all later writes.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-deps>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: flow
// CHECK-NEXT:  { S0[i0, i1] -> S1[i0, o1] : {{.*}} }
// CHECK-NEXT:  { S1[i0, i1] -> S0[1 + i0, o1] : {{.*}} }
// CHECK-LABEL: anti
// CHECK-NEXT:  { S0[i0, i1] -> S1[o0, o1] : {{.*}}i0 <= o0 < {{.*}} }
// CHECK-NEXT:  { S1[i0, i1] -> S0[o0, o1] : {{.*}}i0 < o0 < {{.*}} }
// CHECK-LABEL: output
// CHECK-NEXT:  { S0[i0, i1] -> S0[1 + i0, i1] : {{.*}} }
// CHECK-NEXT:  { S1[i0, i1] -> S1[1 + i0, i1] : {{.*}} }
void jacobi(int t, int n, double A[n], double B[n]) {
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      B[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < n - 1; i++)
      A[i] = 0.3 * (B[i - 1] + B[i] + B[i + 1]);
  }
}
