// A product and a sum that may be contracted, which is clang's default, are one instruction for the model of fused steps: as many steps are fused as
// without contraction, not fewer as with calls of functions.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -ffp-contract=off -S -emit-llvm %s -o %t.off.ll
// RUN: %clang -O1 -Xclang -disable-llvm-passes -ffp-contract=on -S -emit-llvm %s -o %t.on.ll
// RUN: grep -q 'llvm.fmuladd' %t.on.ll
// RUN: %opt -passes='print<pollyrs-ptx>' -disable-output %t.off.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-ptx>' -disable-output %t.on.ll 2>&1 | FileCheck %s

// CHECK: .entry heat_F{{[4-9]|1[0-9]}}(
#define W(I, A, B) (0.11f * A[t % 2][I][j - 1] + B * A[t % 2][I][j] + 0.12f * A[t % 2][I][j + 1])

void heat(int steps, int n, float A[2][n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[(t + 1) % 2][i][j] = W(i - 1, A, 0.1f) + W(i, A, 0.09f) + W(i + 1, A, 0.08f);
}
