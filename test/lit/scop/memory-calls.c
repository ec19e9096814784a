// memset and memcpy of rows are loops over elements of the type that other accesses have.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void f(long n, long m, double A[n][m], double B[n][m]) {
  for (long i = 0; i < n; i++)
    __builtin_memset(A[i], 0, m * sizeof(double));
  for (long i = 0; i < n; i++)
    __builtin_memcpy(B[i], A[i], m * sizeof(double));
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      A[i][j] = B[i][j] + 1;
}

// CHECK: scop f
// CHECK: array double A[*]
// CHECK: array double B[*]
// CHECK: must-write {{.*}} S0[i0, i1] -> A[i0, i1]
// CHECK: read {{.*}} S1[i0, i1] -> A[i0, i1]
// CHECK: must-write {{.*}} S1[i0, i1] -> B[i0, i1]
// CHECK: must-write {{.*}} S2[i0, i1] -> A[i0, i1]
