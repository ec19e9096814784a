// In one dimension a block of fused steps is a warp whose lanes compute neighbouring columns. They load and store every 32nd, and change places through shared memory.
//
// RUN: %clang -O0 -Xclang -disable-O0-optnone -ffp-contract=off -emit-llvm -S %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;fuse-steps=8;stencil-shape=1x32x1x8x1>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-ptx;fuse-steps=8;stencil-shape=1x64x1x8x1>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=LARGE

// CHECK: .entry line_F8
// CHECK: ld.global.b32 {{.*}}, [[[FROM:%rd[0-9]+]]];
// CHECK: ld.global.b32 {{.*}}, [[[FROM]]+128];
// CHECK: ld.global.b32 {{.*}}, [[[FROM]]+896];
// CHECK: st.shared.b32 [[[TO:%rd[0-9]+]]+132],
// CHECK: bar.sync
// CHECK: ld.shared.b32
// CHECK: bar.sync
// CHECK: shfl.sync
// CHECK: bar.sync
// CHECK: st.global.b32 [{{%rd[0-9]+}}+128],
// LARGE: .entry line_F8
// LARGE: ld.global.b32 {{.*}}, [[[FROM:%rd[0-9]+]]];
// LARGE: ld.global.b32 {{.*}}, [[[FROM]]+4];
void line(int steps, int n, float a[2][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      a[(t + 1) % 2][i] = 0.3f * a[t % 2][i - 1] + 0.4f * a[t % 2][i] + 0.2f * a[t % 2][i + 1];
}
