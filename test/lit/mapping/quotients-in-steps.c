// Fused steps compute values at points that the program does not compute. There a quotient by a number is one as well, but by a variable it need not be.
//
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -Rpass=pollyrs -Rpass-analysis=pollyrs %s -o %t.ll 2>&1 | FileCheck %s

// CHECK: remark: offloaded by_number
// CHECK: remark: fuses steps: {{.*}} a launch; blocks of
void by_number(int steps, int n, int m, int A[restrict n][m], int B[restrict n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        B[i][j] = (A[i][j - 1] + A[i][j] + A[i][j + 1]) / 3 + A[i - 1][j] % 7;
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        A[i][j] = B[i][j];
  }
}

// CHECK: remark: offloaded by_variable
// CHECK: remark: steps are not fused: the device cannot run a division of integers at points that the program does not compute
void by_variable(int steps, int n, int m, int w, int A[restrict n][m], int B[restrict n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        B[i][j] = (A[i][j - 1] + A[i][j] + A[i][j + 1]) / w;
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        A[i][j] = B[i][j];
  }
}
