// A transposition reads rows and writes columns: lanes along both use whole sectors of memory on either side.
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping>' -disable-output %t.ll 2>&1 | FileCheck %s

void transpose(int n, double A[n][n], double B[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      B[j][i] = A[i][j];
}

// CHECK: kernel K0[]
// CHECK: block _t0 size 32
// CHECK-NEXT: block _t1 size 8
