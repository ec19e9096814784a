// A sum in order does not wait for shared memory: the loop over a strip loads the operands of the next sixteen iterations while it adds these.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -ffp-contract=on -emit-llvm -S %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:          .entry gram_K2
// CHECK-COUNT-8:  ld.shared.v4.b32
// CHECK:          [[LOOP:\$L__BB[0-9_]+]]:
// CHECK-NOT:      ld.shared
// CHECK-COUNT-16: fma.rn.f32
// CHECK-NOT:      fma
// CHECK:          ld.shared.v4.b32
// CHECK-NOT:      {{fma|\$L__BB.*:}}
// CHECK:          bra.uni [[LOOP]];
void gram(int n, int m, const float A[restrict n][m], float C[restrict m][m]) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      float sum = 0;
      for (int k = 0; k < n; k++)
        sum += A[k][i] * A[k][j];
      C[i][j] = sum;
    }
}
