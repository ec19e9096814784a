// Only one of the two phases has iterations of the second loop, which reads and writes `B`: the other one's kernel has no window of it.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;strategy=hybrid;tile=4;techniques=windows>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %clang -O1 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -mllvm -pollyrs-strategy=hybrid -mllvm -pollyrs-tile=4 -Rpass=pollyrs -Rpass-missed=pollyrs %s -o %t.out.ll 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK:      kernel K0[_h0]
// CHECK-NOT:  window
// CHECK:      kernel K1[_h0]
// CHECK:      window _in0 array 1 size [10, 3]
// REMARK-NOT: internal error
// REMARK:     offloaded halves: 3 loops, 2 statements, 2 arrays, 2 kernels
void halves(int n, double s, double B[restrict n][16], double C[restrict n]) {
  for (int i = 0; i < n; i++)
    C[i] = 0.5;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 3; j++)
      B[i][j] += s;
}
