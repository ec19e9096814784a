// The time loop carries dependences and stays on the host; each space loop is a kernel. No skewing.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-schedule>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:      band
// CHECK-NEXT: sequential {{.*}}S0[i0, i1] -> [i0]
// CHECK-NEXT: sequence
// CHECK-NEXT: filter {{.*}}S0[i0, i1]
// CHECK-NEXT: mark kernel
// CHECK-NEXT: band (permutable)
// CHECK-NEXT: coincident {{.*}}S0[i0, i1] -> [i1]
// CHECK-NEXT: filter {{.*}}S1[i0, i1]
// CHECK-NEXT: mark kernel
// CHECK-NEXT: band (permutable)
// CHECK-NEXT: coincident {{.*}}S1[i0, i1] -> [i1]
void jacobi(int t, int n, double A[n], double B[n]) {
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      B[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < n - 1; i++)
      A[i] = 0.3 * (B[i - 1] + B[i] + B[i + 1]);
  }
}
