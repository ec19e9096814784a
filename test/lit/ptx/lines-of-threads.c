// Steps of a stencil in three dimensions whose lines of threads are warps: along x values pass by shuffles, along y as pairs through shared memory; with divisions all of them
// pass through shared memory. Blocks of one warp have no barrier. No address is a variable of the loop that another one is a fixed number of bytes away from, so that none is
// added to in place.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -DPOINT=SUM -emit-llvm -S %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx>' -disable-output %t.ll 2>&1 | FileCheck --check-prefix=LINES --implicit-check-not=ld.shared.b32 %s
// RUN: %clang -O1 -Xclang -disable-llvm-passes -DPOINT=QUOTIENT -emit-llvm -S %s -o - \
// RUN:   | %opt -passes='print<pollyrs-ptx>' -disable-output 2>&1 | FileCheck --check-prefix=SHARED --implicit-check-not=shfl %s
// RUN: %opt -passes='print<pollyrs-ptx>' -pollyrs-stencil-shape=1x32x8x2x1 -pollyrs-fuse-steps=2 -disable-output %t.ll 2>&1 | FileCheck --check-prefix=WARP %s
// RUN: %opt -passes='print<pollyrs-ptx>' -disable-output %t.ll 2>&1 \
// RUN:   | awk '/add.s64/ { gsub(",", ""); if ($2 == $3) n++ } END { print "added in place: " n + 0 }' | FileCheck --check-prefix=PLACE %s

// PLACE: added in place: 0
// LINES: .entry heat_F
// LINES-DAG: ld.shared.{{v2.b32|b64}}
// LINES-DAG: shfl.sync
// SHARED: .entry heat_
// SHARED: ld.shared.b32
// WARP: .entry heat_F2
// WARP-NOT: bar.sync
// WARP: shfl.sync
// WARP-NOT: bar.sync
// WARP: ret;
#define F(I, J, K) A[t % 2][i + I][j + J][k + K]
#define NEAR (F(-1, 0, 0) + F(1, 0, 0) + F(0, -1, 0) + F(0, 1, 0) + F(0, 0, -1) + F(0, 0, 1))
#define SUM 0.2f * F(0, 0, 0) + 0.13f * NEAR
#define QUOTIENT F(0, 0, 0) / (1.0f + NEAR) + 1.0f / (2.0f + F(0, 0, 0)) + 0.5f / (3.0f + F(0, 0, 1))

void heat(int steps, int n, float A[2][n][n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          A[(t + 1) % 2][i][j][k] = POINT;
}
