// What a point's loop runs over has no bounds that are numbers, though it looks bounded: by a parameter.
//
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -mllvm -pollyrs-strategy=isl -Rpass=pollyrs -Rpass-missed=pollyrs %s -o %t.ll 2>&1 | FileCheck %s

// CHECK-NOT: internal error
// CHECK: offloaded shift: 4 loops, 1 statement
void shift(int n, int m, int k, int steps, double A[2][n][m][k]) {
  for (int t = 0; t < steps; t++)
    for (int x = 0; x < n; x++)
      for (int y = 0; y < m; y++)
        for (int z = 1; z < k; z++)
          A[0][x][y][z] = A[t][x][y][z - 1];
}
