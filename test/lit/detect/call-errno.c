// Calls of the mathematical library may set errno: that is left to a run-time check. Where the compiler may not know the function, and the
// program has one of that name, they are any calls.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

#include <math.h>
__attribute__((no_builtin("expf"))) void f(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] = expf(A[i]);
}

// CHECK: rejected Call at {{.*}}call-errno.c:{{[0-9]+}}: the call of expf (it may set errno; compile with -fno-math-errno) may have side effects ({{.*}})

void g(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] = sqrtf(A[i]);
}

// CHECK: scop g at {{.*}}: 1 statements, 1 arrays, 1 loops

// The root is of no use, but the program computes it, and sets errno.
void unused(int n, float *A) {
  for (int i = 0; i < n; i++) {
    (void)sqrtf(A[i]);
    A[i] = 1;
  }
}

// CHECK: scop unused at {{.*}}: 2 statements, 1 arrays, 1 loops

void conditional(int n, float *A) {
  for (int i = 0; i < n; i++)
    if (A[i] > 2)
      A[i] = logf(A[i]) + powf(A[i], 1.5f);
}

// CHECK: scop conditional at {{.*}}: 1 statements, 1 arrays, 1 loops
