// Call: a function that is not known; loops around it are found.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

extern void g(void);
void f(int n, float *A) {
  for (int i = 0; i < n; i++) {
    A[i] = 1;
    g();
  }
  for (int i = 0; i < n; i++)
    A[i] *= 2;
}

// CHECK: scop f at {{.*}}call.c:{{[0-9]+}}: 1 statements, 1 arrays, 1 loops
// CHECK-NEXT: rejected Call at {{.*}}call.c:{{[0-9]+}}: the call of g may have side effects ({{.*}})
