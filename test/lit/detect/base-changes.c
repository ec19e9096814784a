// BaseChanges: a pointer that walks by a step that is not known.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

float *next(float *) __attribute__((const));

void f(int T, int n, float *A) {
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < n; i++)
      A[i] *= 2;
    A = next(A);
  }
}

// CHECK: scop f at {{.*}}base-changes.c:{{[0-9]+}}: 1 statements, 1 arrays, 1 loops
// CHECK-NEXT: rejected BaseChanges at {{.*}}base-changes.c:{{[0-9]+}}: the base address of A changes inside the loop ({{.*}})
