// Parallel loops around a sequential one around parallel ones: one form in which a block runs the sequential loop, with a barrier behind each step, and one of
// launches; a parameter says which one runs.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-mapping;nest=never>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: %opt -passes='print<pollyrs-mapping;nest=always>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=ALWAYS

// CHECK:      { K0[] : {{.*}}_n0 <= 0 }
// CHECK-NEXT: { K1[x0] : {{.*}}_n0 > 0 {{.*}} }
// CHECK-NEXT: { K2[x0] : {{.*}}_n0 > 0 {{.*}} }
// CHECK:      kernel K0[]
// CHECK:      grid _b0 from {{.*}} count {{.*}}(argument_0)
// CHECK-NEXT: block _t0 size 8
// CHECK-NEXT: block _t1 size 32
// CHECK-NEXT: tile {{.*}} S0[i0, i1, i2] -> [i0]
// CHECK-NEXT: tile {{.*}} S1[i0, i1, i2, i3] -> [i0]
// CHECK:      step {{.*}} S0[i0, i1, i2] -> [i1, 0]
// CHECK-NEXT: step {{.*}} S1[i0, i1, i2, i3] -> [i1, 1]
// CHECK:      _barrier[i0, i1] : 0 <= i0 <= -2 + argument_1 and 0 <= i1 <= 1
// CHECK:      kernel K1[_h0]
// CHECK:      kernel K2[_h0]
// CHECK:      nested _n0

// NEVER-NOT:  _barrier
// NEVER-NOT:  nested

// ALWAYS:     kernel K0[]
// ALWAYS-NOT: kernel K1
// ALWAYS-NOT: nested
void factor(int m, int n, double A[m][n][n]) {
  for (int b = 0; b < m; b++)
    for (int k = 0; k < n; k++) {
      for (int i = k + 1; i < n; i++)
        A[b][i][k] /= A[b][k][k];
      for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j < n; j++)
          A[b][i][j] -= A[b][i][k] * A[b][k][j];
    }
}
