// Cells of whole tiles in aligned rows: vectors of 16 bytes, unless a thread has many points; of others a predicated access each.
//
// RUN: %clang -O0 -Xclang -disable-O0-optnone -emit-llvm -S %s -o - \
// RUN:   | %opt -passes='print<pollyrs-ptx>' -disable-output 2>&1 | FileCheck %s

// CHECK:          .visible .entry gemm_K0(
// CHECK-NOT:      ld.global.v4.f32
// CHECK:          .visible .entry gemm_K1(
// CHECK-COUNT-16: ld.global.v4.f32
// CHECK:          bar.sync
// CHECK-COUNT-16: st.global.v4
void gemm(int n, int m, int l, float C[n][m], float A[n][l], float B[l][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int k = 0; k < l; ++k)
        C[i][j] += A[i][k] * B[k][j];
}
