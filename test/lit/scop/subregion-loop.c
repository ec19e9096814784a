// A loop that data end is part of the statement. Its counter bounds what it may read, and a condition that is affine after all
// restricts what the branch may read.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void f(int n, int m, const double *restrict B, const double *restrict C, double *restrict A) {
  for (int i = 0; i < n; i++) {
    double x = B[i];
    int k = 0;
    while (k < m && x > 1)
      x *= C[k++];
    if (x > 0 && i > 0)
      x += C[i - 1];
    A[i] = x;
  }
}

// CHECK: subregion of {{[0-9]+}} blocks and 1 loops
// CHECK: may-read [n, m] -> { S{{[0-9]}}[i0] -> C[o0] : n > 0 and m > 0 and 0 <= i0 < n and 0 <= o0 < m }
// CHECK: may-read [{{.*}}] -> { S{{[0-9]}}[i0] -> C[-1 + i0] : 0 < i0 < n }
// CHECK: must-write [{{.*}}] -> { S{{[0-9]}}[i0] -> A[i0] }
// CHECK: schedule
