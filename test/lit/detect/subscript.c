// Subscript: indices read from memory.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, int *I, int *J, float *A) {
  for (int i = 0; i < n; i++) {
    A[I[i]] = 1;
    A[J[i] + 1] = A[i];
  }
}

// CHECK: rejected Subscript at {{.*}}subscript.c:{{[0-9]+}}: a subscript of A is not affine: it depends on I ({{.*}})
