// A thread that adds up a row in shared memory has its numbers loaded ahead: the second half of an iteration's
// before the first half is added, and the next iteration's first half before the second one is; the last
// iteration loads its own again. Not where the loop stores.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -emit-llvm -S %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;arch=sm_90;only-function=scaled>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-ptx;arch=sm_90;only-function=totals>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=STORES

// CHECK:          .entry scaled_K0
// CHECK:          bar.sync 0;
// CHECK-COUNT-16: ld.shared.b32
// CHECK:          .pragma "nounroll";
// CHECK-COUNT-16: ld.shared.b32
// CHECK-COUNT-16: add.rn.f32
// CHECK:          selp.b64
// CHECK-COUNT-16: ld.shared.b32
// CHECK-COUNT-16: add.rn.f32
// CHECK:          bra
void scaled(int n, int m, const float x[restrict n][m], float y[restrict n][m]) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int j = 0; j < m; j++)
      sum += x[i][j];
    for (int j = 0; j < m; j++)
      y[i][j] = x[i][j] * sum;
  }
}

// STORES-NOT: selp.b64
// STORES:     .entry totals_K0
void totals(int n, int m, const float x[restrict n][m], float y[restrict n][m]) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int j = 0; j < m; j++) {
      sum += x[i][j];
      y[i][j] = sum;
    }
  }
}
