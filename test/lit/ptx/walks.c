// A thread that walks along a part of an array accesses neighbouring elements together, 16 bytes at a time, where these are aligned.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx>' -disable-output %t.ll 2>&1 | FileCheck %s

// Sums of parts, and their totals: an address is asked once for all elements.
// CHECK: .entry sums_K1
// CHECK-COUNT-16: ld.global.nc.b32
// CHECK-COUNT-4: ld.global.nc.v4.b32
// CHECK: .entry sums_K9
// CHECK-COUNT-4: ld.global.nc.v4.b32
// CHECK-COUNT-4: st.global.v4.b32
void sums(int n, const int *restrict x, int *restrict y) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    s += x[i];
    y[i] = s;
  }
}

// An element is loaded before the one ahead of it is stored, which is another one.
// CHECK: .entry in_place_K8
// CHECK-COUNT-8: ld.global.v2.b64
// CHECK-COUNT-8: st.global.v2.b64
void in_place(int n, double *x) {
#pragma clang fp reassociate(on)
  for (int i = 1; i < n; i++)
    x[i] += x[i - 1];
}

// What is loaded might be what was stored before: all stay where they are.
// CHECK: .entry shifted_K
// CHECK-NOT: .v4
// CHECK-NOT: .v2
void shifted(int n, int m, int k, int x[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      x[i][j] = x[i][j + k] / 3 + 5;
}
