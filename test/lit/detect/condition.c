// Condition: a branch on data.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float *A, float *B) {
  for (int i = 0; i < n; i++)
    if (A[i] > 0)
      B[i] = 1;
}

// CHECK: rejected Condition at {{.*}}condition.c:{{[0-9]+}}: a branch depends on A, which is not affine in loop counters and parameters ({{.*}})
