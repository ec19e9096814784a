// In time tiles a thread computes the exact divisions and roots of its points of a step side by side, by the instructions for usual operands with one
// test behind them; the exact operations are what it leads to. Stages at the border compute all points, whether they are there or not. Without the
// techniques each point has a test of its own.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -ffp-contract=off -fno-math-errno -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;strategy=hybrid>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-ptx;strategy=hybrid;techniques=none>' -disable-output %t.ll 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE

float sqrtf(float);

// CHECK: .entry roots_K0
// CHECK: .reqntid 256, 1, 1
// CHECK: rsqrt.approx.ftz.f32
// CHECK: rsqrt.approx.ftz.f32
// CHECK: setp.{{.*}}{{1006632960|1006632961}};
// CHECK-DAG: sqrt.rn.f32
// CHECK-DAG: div.rn.f32
// NONE: .entry roots_K0
// NONE: sqrt.rn.f32
void roots(int steps, int n, float a[2][n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[(t + 1) % 2][i][j] = (a[t % 2][i][j - 1] + a[t % 2][i - 1][j]) / sqrtf(1 + a[t % 2][i + 1][j] * a[t % 2][i][j + 1]);
}
