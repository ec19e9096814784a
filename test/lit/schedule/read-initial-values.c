// B[k][j] is read before it is overwritten: read from a copy, it leaves both outer loops parallel.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-schedule>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:      mark kernel
// CHECK-NEXT: band (permutable)
// CHECK-NEXT: coincident {{.*}}[i0, i1, i2] -> [i0]
// CHECK-NEXT: coincident {{.*}}[i0, i1, i2] -> [i1]
// CHECK-NOT:  mark
void upper(int n, int m, double L[restrict n][n], double B[restrict n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = i + 1; k < n; k++)
        B[i][j] += L[k][i] * B[k][j];
}
