// Stages at the border of the grid compute all points of a step, without a branch, and store those that there are: to the window and to the
// array, by predicated instructions.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;strategy=hybrid;tile=3x4x128>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-ptx;strategy=hybrid;tile=3x4x128;techniques=windows>' -disable-output %t.ll 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PLAIN --implicit-check-not='@%p{{[0-9]+}} st' --implicit-check-not=prefetch
// RUN: %opt -passes='print<pollyrs-ptx;strategy=hybrid;tile=3x4x128;techniques=windows+unroll+passing>' -disable-output %t.ll 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STAYS --implicit-check-not=prefetch

// CHECK: prefetch.global
// CHECK: @[[P:%p[0-9]+]] st.shared.f64
// CHECK: @[[P]] st.global.f64
// PLAIN: st.shared
// STAYS: @%p{{[0-9]+}} st.shared.f64
void star(int t, int n, double A[2][n][n]) {
  for (int s = 0; s < t; s++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[(s + 1) % 2][i][j] =
            0.2 * (A[s % 2][i - 1][j] + A[s % 2][i + 1][j] + A[s % 2][i][j - 1] + A[s % 2][i][j + 1] + 1);
}
