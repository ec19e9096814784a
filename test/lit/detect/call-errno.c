// Call: sqrtf sets errno, unless -fno-math-errno is given.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

#include <math.h>
void f(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] = sqrtf(A[i]);
}

// CHECK: rejected Call at {{.*}}call-errno.c:{{[0-9]+}}: the call of sqrtf (it may set errno; compile with -fno-math-errno) may have side effects ({{.*}})
