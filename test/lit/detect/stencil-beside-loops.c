// A time loop that is a stencil by itself, between other loops: a SCoP of its own, so that its steps are fused. Where nothing would be fused, the region stays whole.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop;only-function=relaxed>" -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes="print<pollyrs-scop;only-function=relaxed;fuse-steps=1>" -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: %opt -passes="print<pollyrs-scop;only-function=serial>" -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=SERIAL

// CHECK-COUNT-3: {{^}}scop relaxed
// WHOLE-COUNT-1: {{^}}scop relaxed
// WHOLE-NOT: {{^}}scop relaxed
int relaxed(int steps, int n, double u[2][n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      u[0][i][j] = u[1][i][j] = i + j;
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[(t + 1) % 2][i][j] = 0.25 * (u[t % 2][i - 1][j] + u[t % 2][i + 1][j] + u[t % 2][i][j - 1] + u[t % 2][i][j + 1]);
  int above = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      above += u[0][i][j] > 1;
  return above;
}

// A loop around a sweep that reads what it writes in its own step: no stencil.
// SERIAL: {{^}}scop serial
// SERIAL-NOT: {{^}}scop serial
void serial(int steps, int n, double u[n][n], double w[n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      u[i][j] = i + j;
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n; i++)
      w[i] = w[i] * u[t][i] + w[n - i];
}
