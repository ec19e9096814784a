// Type: pointers in memory.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float *A, float **P) {
  for (int i = 0; i < n; i++)
    P[i] = A + i;
}

// CHECK: rejected Type at {{.*}}type-pointer.c:{{[0-9]+}}: values of type pointer (ptr), such as P, cannot be held on the device ({{.*}})
