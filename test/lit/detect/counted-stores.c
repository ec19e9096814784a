// A loop under a branch on data is part of the statement, unless that hides all parallelism: then it is offloaded by itself.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="pollyrs" -disable-output %t.ll -pass-remarks=pollyrs 2>&1 | FileCheck %s

void rows(int n, int m, double A[n][m], const double *restrict B) {
  for (int i = 0; i < n; i++)
    if (B[i] > 0)
      for (int j = 0; j < m; j++)
        A[i][j] *= B[i];
}

void steps(int n, int m, double *restrict A, const double *restrict B) {
  for (int t = 0; t < n; t++)
    if (B[t] > 0)
      for (int i = 0; i < m; i++)
        A[i] = A[i] * 0.5 + B[t];
}

// CHECK: counted-stores.c:7:{{.*}} offloaded rows: 2 loops, 1 statement, 2 arrays, 1 kernel
// CHECK: counted-stores.c:16:{{.*}} offloaded steps: 1 loop, 1 statement, 1 array, 1 kernel
