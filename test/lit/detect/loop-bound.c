// LoopBound: the bound is loaded anew in each iteration, and the loop changes it.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int *n, int *A) {
  for (int i = 0; i < *n; i++)
    A[i] = (*n)--;
}

// CHECK: rejected LoopBound at {{.*}}loop-bound.c:{{[0-9]+}}: the number of iterations is not affine: it depends on n
