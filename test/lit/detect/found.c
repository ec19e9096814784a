// A line for each SCoP: statements, arrays in memory, loops; a call between nests separates them.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

extern void g(void);
void f(int n, float *A, float *B) {
  for (int i = 0; i < n; i++)
    A[i] = 1;
  g();
  for (int i = 0; i < n; i++)
    A[i] = 2;
  for (int i = 0; i < n; i++)
    B[i] *= A[i];
}

// CHECK: scop f.1 at {{.*}}found.c:{{[0-9]+}}: 1 statements, 1 arrays, 1 loops
// CHECK-NEXT: scop f.2 at {{.*}}found.c:{{[0-9]+}}: 1 statements, 1 arrays, 1 loops
// CHECK-NEXT: scop f.3 at {{.*}}found.c:{{[0-9]+}}: 1 statements, 2 arrays, 1 loops
