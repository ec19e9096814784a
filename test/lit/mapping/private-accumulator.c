// The accumulator is a PHI, expanded over i and j: each thread keeps its cell to itself. j is thread x.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;register-tile=none>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:      kernel K0[]
// CHECK:      grid _b0 from {{.*}}[(0)]{{.*}} count {{.*}}/8)
// CHECK-NEXT: grid _b1 from {{.*}}[(0)]{{.*}} count {{.*}}/32)
// CHECK-NEXT: block _t0 size 8
// CHECK-NEXT: block _t1 size 32
// CHECK-NOT:  kernel
// CHECK:      array 0 global
// CHECK-NEXT: array 1 global
// CHECK-NEXT: array 2 global
// CHECK-NEXT: array 3 private
// CHECK-NOT:  global
void gemm(int n, int m, int k, double C[restrict n][m], double A[restrict n][k], double B[restrict k][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double s = 0;
      for (int l = 0; l < k; l++)
        s += A[i][l] * B[l][j];
      C[i][j] = s;
    }
}
