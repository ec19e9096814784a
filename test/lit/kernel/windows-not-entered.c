// Diamonds of height 1 over a column and a matrix: in isl's code for windows in shared memory an access is outside of the stage that fills its
// window. Such time tiles keep their values in global memory.
//
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -mllvm -pollyrs-strategy=diamond -mllvm -pollyrs-tile=1 -Rpass=pollyrs -Rpass-missed=pollyrs %s -o %t.ll 2>&1 | FileCheck %s

// CHECK-NOT: internal error
// CHECK: offloaded column: {{.*}} 1 kernel
// CHECK: fuses steps: several in a tile, by time tiles
void column(int n, int m, int steps, double A[n][m], double B[n][m]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++)
      B[i][0] = A[i][1] + A[i + 1][0];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        A[i][j] = 0.5;
  }
}
