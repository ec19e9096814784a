// A statement of each step that is there whatever `n` is: stages that are bounded in one polyhedron only by the type of `n` would be
// millions of turns without a step. Such a kernel has no windows.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-mapping;strategy=hybrid;tile=5x2x17>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: kernel K0[_h0]
// CHECK-NOT: 126322567
// CHECK-NOT: window _in
// CHECK: kernel K1[_h0]

void steps(int n, int m, double *A, double *C, double *D)
{
  for (int t = 0; t < m; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        C[(t * (n + 2) + i) * n + j] = A[(t * (n + 2) + i) * n + j] * 0.2 - 0.45;
        D[(t * (n + 2) + i) * n + j] = 0.125 + (double)i * 0.004;
      }
    C[(t * (n + 2) + (t < 5 ? t : 5)) * n] -= (double)t * 0.003;
  }
}
