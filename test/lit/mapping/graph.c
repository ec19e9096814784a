// A factorisation whose tiles are tasks of one launch: each waits, in each step of the loop around, for the tiles that the step reads, and ahead of all others
// in the step. A parameter says whether this form runs or the launches.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;only-function=lu>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-mapping;graph=never;only-function=lu>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: %opt -passes='print<pollyrs-ptx;graph=always;only-function=lu>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=PTX
// RUN: %opt -passes='print<pollyrs-ptx;graph=always;only-function=lu>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=CARRIED
// RUN: %opt -passes='print<pollyrs-mapping;graph=always;only-function=ldl>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=DIVIDED
// RUN: %opt -passes='print<pollyrs-ptx;graph=always;only-function=ldl>' -disable-output %t.ll > %t.ptx 2>&1
// RUN: awk '/st.shared/ { if (++n == 16) found = 1; next } { n = 0 } END { exit !found }' %t.ptx

// CHECK:      { K0[] : {{.*}}_n0 <= 0 }
// CHECK-NEXT: { K1[x0] : {{.*}}_n0 > 0 {{.*}} }
// CHECK:      kernel K0[]
// CHECK:      tasks
// CHECK:      grid _b0
// CHECK-NEXT: grid _b1
// CHECK:      step {{.*}} _wait[k, w0, w1] -> [k, -1, 0, 0]
// CHECK:      carried _carried0 place {{.*}} S1[i0, i1, i2] -> [1 + i0 + i1, 1 + i0 + i2, i0]
// CHECK:      times {{.*}} of coordinate 2
// CHECK-NEXT: operand {{[0-9]}} along Some(0) {{.*}}[i0, i1]
// CHECK-NEXT: operand {{[0-9]}} along Some(1) {{.*}}[i1, i0]
// CHECK:      _wait[k, _b1 + k, _b1]
// CHECK:      mark together
// CHECK:      filter {{.*}}{ _carried0[c0, c1, c2, c3] }
// CHECK-NEXT: filter {{.*}}{ S1[i0, i1, i2] }
// CHECK-NEXT: mark _carried0
// CHECK:      nested _n0

// NEVER-NOT: _wait

// PTX:      atom.add.u32
// PTX:      bar.sync
// PTX:      ld.acquire.gpu.u32
// PTX:      bar.sync
// PTX:      st.release.gpu.u32

// Elements are in registers: between the barriers of a step are loads of operands, 16 updates, and no load of what they update.
// CARRIED:             div.rn.f32
// CARRIED:             bar.sync
// CARRIED-COUNT-16:    fma.rn.f32
// CARRIED:             bar.sync

// Updates that divide are no such: a thread computes all its points of a step, and then stores them (16 stores in a row).
// DIVIDED-NOT: _carried
// DIVIDED:     mark together
// DIVIDED-NOT: _carried


void lu(int n, float a[n][n]) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
      a[i][k] /= a[k][k];
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        a[i][j] -= a[i][k] * a[k][j];
  }
}

void ldl(int n, float a[n][n]) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j <= i; j++)
        a[i][j] -= a[i][k] * a[j][k] / a[k][k];
    for (int i = k + 1; i < n; i++)
      a[i][k] /= a[k][k];
  }
}
