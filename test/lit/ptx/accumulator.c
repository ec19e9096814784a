// gemm: the sum stays in a register (two stores in all, none inside the loop), read-only arrays come through the read-only path, and
// nothing is contracted where the program does not allow it.
//
// RUN: %clang -O0 -Xclang -disable-O0-optnone -ffp-contract=off -emit-llvm -S %s -o - \
// RUN:   | %opt -passes='print<pollyrs-ptx>' -disable-output 2>&1 | FileCheck %s
// RUN: %clang -O0 -Xclang -disable-O0-optnone -ffp-contract=on -emit-llvm -S %s -o - \
// RUN:   | %opt -passes='print<pollyrs-ptx>' -disable-output 2>&1 | FileCheck --check-prefix=FUSED %s

// CHECK:      .target sm_70
// CHECK-NOT:  fma
// CHECK:      .visible .entry gemm_K0(
// CHECK:      .reqntid 32, 8, 1
// CHECK-NOT:  fma
// CHECK:      st.global.b32
// CHECK:      ld.global.nc.b32
// CHECK-NOT:  st.global
// CHECK:      mul.rn.f32
// CHECK-NOT:  {{fma|st.global}}
// CHECK:      add.rn.f32
// CHECK-NOT:  fma
// CHECK:      st.global.b32
// CHECK-NOT:  st.global
// CHECK:      ret;

// FUSED:      fma.rn.f32
void gemm(int ni, int nj, int nk, float alpha, float beta, float C[ni][nj], float A[ni][nk], float B[nk][nj]) {
  for (int i = 0; i < ni; ++i)
    for (int j = 0; j < nj; ++j) {
      C[i][j] *= beta;
      for (int k = 0; k < nk; ++k)
        C[i][j] += alpha * A[i][k] * B[k][j];
    }
}
