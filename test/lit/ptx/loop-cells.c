// A cell that stays in a register while a loop runs is stored behind it: in the unrolled loop there are loads and fused operations, no stores.
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: .entry
// CHECK: fma.rn.f64
// CHECK-NOT: st.global
// CHECK: fma.rn.f64
// CHECK-NOT: st.global
// CHECK: fma.rn.f64
// CHECK: st.global
void backward(int n, int m, double U[n][n], double B[n][m]) {
  for (int i = n - 1; i >= 0; i--)
    for (int j = 0; j < m; j++) {
      for (int k = i + 1; k < n; k++)
        B[i][j] -= U[i][k] * B[k][j];
      B[i][j] /= U[i][i];
    }
}
