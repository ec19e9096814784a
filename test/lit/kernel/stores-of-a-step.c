// A thread has all rows of its columns. In a hexagon that is whole, a step first computes all of them, then stores to the window, then, behind
// one branch, to the array: one address, and the others so many rows away from the one before. Behind the copies it asks for the lines of the
// next stage. Where points call functions, rows are spread over more threads.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-kernel;strategy=hybrid;tile=3x4x128>' -disable-output %t.ll > %t.txt 2>&1
// RUN: FileCheck %s < %t.txt
// RUN: %opt -passes='print<pollyrs-mapping;strategy=hybrid;tile=3x4x128>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: %clang -DPER='*exp' -fno-math-errno -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.over.ll
// RUN: %opt -passes='print<pollyrs-mapping;strategy=hybrid;tile=3x4x128>' -disable-output %t.over.ll 2>&1 | FileCheck %s --check-prefix=SPREAD

// CHECK: full:
// CHECK: call void @pollyrs.prefetch
// CHECK: store:
// CHECK: [[BASE:%.*]] = getelementptr double
// CHECK-NEXT: [[FIRST:%.*]] = getelementptr double, ptr [[BASE]]
// CHECK-NEXT: store double {{.*}}, ptr [[FIRST]]
// CHECK: [[NEXT:%.*]] = getelementptr double, ptr [[FIRST]]
// CHECK-NEXT: store double {{.*}}, ptr [[NEXT]]
// CHECK: stored:

// ROWS: block _t0 size 1
// ROWS: block _t1 size 128
// SPREAD: block _t0 size 4
// SPREAD: block _t1 size 128
double exp(double);
#ifndef PER
#define PER *
#endif
void star(int t, int n, double A[2][n][n]) {
  for (int s = 0; s < t; s++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[(s + 1) % 2][i][j] =
            0.2 PER (A[s % 2][i - 1][j] + A[s % 2][i + 1][j] + A[s % 2][i][j - 1] + A[s % 2][i][j + 1] + 1);
}
