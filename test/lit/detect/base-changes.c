// BaseChanges: pointers that change places each time step; the step itself is found.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int T, int n, float *A, float *B) {
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < n - 1; i++)
      B[i] = A[i - 1] + A[i + 1];
    float *x = A;
    A = B;
    B = x;
  }
}

// CHECK: scop f at {{.*}}base-changes.c:{{[0-9]+}}: 1 statements, 2 arrays, 1 loops
// CHECK-NEXT: rejected BaseChanges at {{.*}}base-changes.c:{{[0-9]+}}: the base address of {{[AB]}} changes inside the loop ({{.*}})
