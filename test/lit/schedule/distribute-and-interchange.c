// The row sums and the column sums share a loop in which nothing is parallel: they are distributed, and the second nest is
// interchanged.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-schedule>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:      sequence
// CHECK:      mark kernel
// CHECK-NEXT: band (permutable)
// CHECK-NEXT: coincident {{.*}} -> [i0]
// CHECK:      mark kernel
// CHECK-NEXT: band (permutable)
// CHECK-NEXT: coincident {{.*}}[i0, i1] -> [i1]
// CHECK-NEXT: band
// CHECK-NEXT: sequential {{.*}}[i0, i1] -> [i0]
void atax(int n, int m, double A[restrict n][m], double *restrict x, double *restrict y, double *restrict t) {
  for (int i = 0; i < n; i++) {
    t[i] = 0;
    for (int j = 0; j < m; j++)
      t[i] += A[i][j] * x[j];
    for (int j = 0; j < m; j++)
      y[j] += A[i][j] * t[i];
  }
}
