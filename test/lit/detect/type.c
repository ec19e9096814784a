// Type: long double.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, long double *A, float *B) {
  for (int i = 0; i < n; i++)
    B[i] = (float)A[i];
}

// CHECK: rejected Type at {{.*}}type.c:{{[0-9]+}}: values of type long double (x86_fp80), such as A, cannot be held on the device ({{.*}})
