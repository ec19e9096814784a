// OrderedAccess: volatile.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, volatile float *A) {
  for (int i = 0; i < n; i++)
    A[i] = 1;
}

// CHECK: rejected OrderedAccess at {{.*}}ordered-access.c:{{[0-9]+}}: a volatile access to A ({{.*}})
