// A factorisation whose tiles are tasks of one launch: each waits, in each step of the loop around, for the tiles that the step reads, and ahead of all others
// in the step. A parameter says whether this form runs or the launches.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-mapping;graph=never>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: %opt -passes='print<pollyrs-ptx;graph=always>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=PTX
// RUN: %opt -passes='print<pollyrs-ptx;graph=always>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=TOGETHER

// CHECK:      { K0[] : {{.*}}_n0 <= 0 }
// CHECK-NEXT: { K1[x0] : {{.*}}_n0 > 0 {{.*}} }
// CHECK:      kernel K0[]
// CHECK:      tasks
// CHECK:      grid _b0
// CHECK-NEXT: grid _b1
// CHECK:      step {{.*}} _wait[k, w0, w1] -> [k, -1, 0, 0]
// CHECK:      _wait[k, _b1 + k, _b1]
// CHECK:      mark together
// CHECK:      nested _n0

// NEVER-NOT: _wait

// PTX:      atom.add.u32
// PTX:      bar.sync
// PTX:      ld.acquire.gpu.u32
// PTX:      bar.sync
// PTX:      st.release.gpu.u32

// A thread computes all its points of a step, and then stores them.
// TOGETHER:      div.rn.f32
// TOGETHER:      bar.sync
// TOGETHER:      ld.shared.b32
// TOGETHER-NOT:  st.shared.b32
// TOGETHER:      fma.rn.f32
// TOGETHER-NOT:  st.shared.b32
// TOGETHER:      fma.rn.f32
// TOGETHER:      st.shared.b32
// TOGETHER-NEXT: st.shared.b32
// TOGETHER-NEXT: st.shared.b32
void lu(int n, float a[n][n]) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
      a[i][k] /= a[k][k];
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        a[i][j] -= a[i][k] * a[k][j];
  }
}
