// Condition: B may end before the last i for which the condition is false; nothing says that its elements exist.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

void f(int n, double *restrict A, double *restrict B) {
  for (int i = 0; i < n; i++)
    if (A[i] > 0.25)
      B[i] = A[i] * 2.0;
}

// CHECK: rejected Condition at {{.*}}data-condition.c:
