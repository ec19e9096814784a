// Neighbours that are clamped at the border, or mirrored: their distance is another one there, and several steps run in one launch.
// Around the grid (periodic) the distance depends on its size.
//
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -Rpass=pollyrs -Rpass-analysis=pollyrs %s -o %t.ll 2>&1 | FileCheck %s

// CHECK: remark: offloaded clamped
// CHECK: remark: fuses steps: {{.*}} a launch; blocks of
void clamped(int steps, int n, int m, float A[restrict n][m], float B[restrict n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        B[i][j] = A[i][j > 0 ? j - 1 : 0] + A[i][j < m - 1 ? j + 1 : m - 1] + A[i > 0 ? i - 1 : 1][j] + A[i < n - 1 ? i + 1 : n - 2][j];
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        A[i][j] = B[i][j];
  }
}

// CHECK: remark: offloaded periodic
// CHECK: remark: steps are not fused: an access to a written array is not uniform
void periodic(int steps, int n, int m, float A[restrict n][m], float B[restrict n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        B[i][j] = A[i][j > 0 ? j - 1 : m - 1] + A[i][j < m - 1 ? j + 1 : 0];
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        A[i][j] = B[i][j];
  }
}
