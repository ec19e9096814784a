// Terminator: a switch.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, int *A) {
  for (int i = 0; i < n; i++)
    switch (A[i]) {
    case 1: A[i] = 2; break;
    case 2: A[i] = 5; break;
    case 7: A[i] = 11; break;
    case 9: A[i] = 1; break;
    default: A[i + n] = 0;
    }
}

// CHECK: rejected Terminator at {{.*}}terminator.c:{{[0-9]+}}: the terminator switch is not a branch ({{.*}})
