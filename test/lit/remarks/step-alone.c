// A star of order 4 in three dimensions: there is hardly room for two steps in a launch, and neighbouring points that share loads are faster step by step.
// One of order 2 is fused; and so is the former where that is asked for.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes=pollyrs -pollyrs-targets=cuda -pollyrs-cubin=off -pass-remarks=pollyrs -pass-remarks-analysis=pollyrs -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes=pollyrs -pollyrs-targets=cuda -pollyrs-cubin=off -pollyrs-fuse-steps=2 -pass-remarks=pollyrs -pass-remarks-analysis=pollyrs -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=ASKED

// CHECK-DAG: steps are not fused: a launch for each step is faster [PRS003]
// CHECK-DAG: fuses steps:
// ASKED-NOT: not fused

#define PAIR(p, w) + w * (a[t % 2][i - p][j][k] + a[t % 2][i + p][j][k] + a[t % 2][i][j - p][k] + a[t % 2][i][j + p][k] + a[t % 2][i][j][k - p] + a[t % 2][i][j][k + p])

void order4(int n, int steps, float (*restrict a)[n][n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 4; i < n - 4; i++)
      for (int j = 4; j < n - 4; j++)
        for (int k = 4; k < n - 4; k++)
          a[(t + 1) % 2][i][j][k] = 0.1f * a[t % 2][i][j][k] PAIR(1, 0.2f) PAIR(2, 0.05f) PAIR(3, 0.02f) PAIR(4, 0.01f);
}

void order2(int n, int steps, float (*restrict a)[n][n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 2; i < n - 2; i++)
      for (int j = 2; j < n - 2; j++)
        for (int k = 2; k < n - 2; k++)
          a[(t + 1) % 2][i][j][k] = 0.1f * a[t % 2][i][j][k] PAIR(1, 0.2f) PAIR(2, 0.05f);
}
