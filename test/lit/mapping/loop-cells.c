// The cell that an innermost loop updates stays in a register where nothing else in the loop is of it (`b[i]` against `b[k]` with k > i), and in memory
// where something may be (k comes across i).
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: kernel K0
// CHECK: filter {{.*}}S0[i0, i1, i2] }
// CHECK-NEXT: mark register0
// CHECK-NEXT: band
// CHECK-NEXT: sequential {{.*}}S0[i0, i1, i2] -> [i2]
void backward(int n, int m, double U[n][n], double B[n][m]) {
  for (int i = n - 1; i >= 0; i--)
    for (int j = 0; j < m; j++) {
      for (int k = i + 1; k < n; k++)
        B[i][j] -= U[i][k] * B[k][j];
      B[i][j] /= U[i][i];
    }
}

// CHECK: kernel K0
// CHECK-NOT: mark register
void own_cell(int n, int m, double B[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < n; k++)
        B[i][j] -= 0.125 * B[k][j];
}
