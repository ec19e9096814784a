// Diamonds over a loop of two statements, one of them in the diagonal of a matrix: isl's code has barriers under a condition that mentions the
// thread, with windows in shared memory and without. The nest is offloaded without time tiles.
//
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -mllvm -pollyrs-strategy=diamond -mllvm -pollyrs-tile=7x8x5 -mllvm -pollyrs-budget=5500000 -Rpass=pollyrs -Rpass-missed=pollyrs -Rpass-analysis=pollyrs %s -o %t.ll 2>&1 | FileCheck %s

// CHECK-NOT: internal error
// CHECK: offloaded diagonal: 4 loops, 2 statements, 2 arrays
// CHECK: steps are not fused: isl's code for time tiles has barriers that not all threads seem to reach
void diagonal(unsigned n, int m, unsigned char A[restrict m][n][m][m], double B[restrict m][n][m][m]) {
  for (unsigned i = 0; i < m; i++)
    for (unsigned j = 0; j != n; j++) {
      B[i][j][j][i / 2] = B[i][j][j][i / 2] * 0.5 + A[i][j + 1][1][i % 5];
      for (unsigned k = 0; k < m; k++)
        for (unsigned l = 0; l < m; l++)
          B[i][j][k][l] = A[i][j][l][k] * B[i + 1][j][k][l];
    }
}
