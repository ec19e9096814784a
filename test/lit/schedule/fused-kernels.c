// Loops one after the other over the same places are one kernel, whose members are moved where the loops count from elsewhere. A value of a neighbour needs
// the end of a launch.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-schedule>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-schedule;fuse-kernels=false>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=APART
// RUN: %opt -passes='print<pollyrs-ptx;only-function=same>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=CODE

// CHECK:      mark kernel
// CHECK-NOT:  mark kernel
// CHECK:      coincident {{.*}} S0[i0, i1] -> [i0] {{.*}} S1[i0, i1] -> [1 + i0] {{.*}} S2[i0, i1] -> [i0]
// CHECK-NEXT: coincident {{.*}} S0[i0, i1] -> [i1] {{.*}} S1[i0, i1] -> [2 + i1] {{.*}} S2[i0, i1] -> [i1]
// CHECK:      mark kernel
// CHECK:      mark kernel

// APART:      mark kernel
// APART:      mark kernel
// APART:      mark kernel
// APART:      mark kernel
// APART:      mark kernel

// A load and three stores are left.
// CODE:       .entry same_K0
// CODE:       ld.global
// CODE-NOT:   ld.global
// CODE-COUNT-3: st.global
// CODE-NOT:   {{(ld|st).global|entry}}
void chain(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n], double d[restrict n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      b[i][j] = a[i][j] * 2 + 1;
  for (int i = 1; i < n; i++)
    for (int j = 2; j < n; j++)
      c[i][j] = b[i][j] * b[i][j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      d[i][j] = b[i][j] - a[i][j];
}

void neighbours(int n, double a[restrict n], double b[restrict n], double c[restrict n]) {
  for (int i = 0; i < n; i++)
    b[i] = a[i] * 2;
  for (int i = 1; i < n - 1; i++)
    c[i] = b[i - 1] + b[i + 1];
}

void same(int n, double a[restrict n], double b[restrict n], double c[restrict n], double d[restrict n]) {
  for (int i = 0; i < n; i++)
    b[i] = a[i] * 2 + 1;
  for (int i = 0; i < n; i++)
    c[i] = b[i] * b[i];
  for (int i = 0; i < n; i++)
    d[i] = c[i] - a[i] + b[i];
}
