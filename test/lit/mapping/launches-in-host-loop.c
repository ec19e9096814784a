// The host schedule launches both kernels in every time step in which they have something to do.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:      host
// CHECK-NEXT: domain
// CHECK-NEXT: { K0[x0] : {{.*}} >= 3 and 0 <= x0 < {{.*}} }
// CHECK-NEXT: { K1[x0] : {{.*}} >= 3 and 0 <= x0 < {{.*}} }
// CHECK-NEXT: band
// CHECK-NEXT: sequential { K0[_h0] -> [_h0] } { K1[_h0] -> [_h0] }
// CHECK-NEXT: sequence
// CHECK-NEXT: filter { K0[_h0] }
// CHECK-NEXT: filter { K1[_h0] }
// CHECK:      kernel K0[_h0]
// CHECK:      block _t0 size 256
// CHECK:      { S0[_h0, _v0] }
// CHECK:      point _v0 of 2 by 1
// CHECK:      kernel K1[_h0]
void jacobi(int t, int n, double A[n], double B[n]) {
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      B[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < n - 1; i++)
      A[i] = B[i];
  }
}
