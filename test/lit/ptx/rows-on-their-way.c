// Rows of a block are copied to shared memory without a register for each element, and waited for in front of
// the barrier; older targets load and store.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -emit-llvm -S %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;arch=sm_90>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-ptx;arch=sm_75>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=OLD

// CHECK:      .entry scaled_K0
// CHECK-NOT:  {{ld.global|st.shared}}
// CHECK:      cp.async.wait_group 0;
// CHECK-NEXT: bar.sync 0;
// CHECK-NOT:  {{ld.global|st.shared}}
// CHECK:      cp.async.ca.shared.global {{.*}}, 4;
// CHECK-NOT:  {{ld.global|st.shared}}
// CHECK:      ld.shared.b32

// OLD:     .entry scaled_K0
// OLD-NOT: cp.async
// OLD:     ld.global{{.*}}.b32
// OLD-NOT: cp.async
// OLD:     bar.sync 0;
void scaled(int n, int m, const float x[restrict n][m], float y[restrict n][m]) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int j = 0; j < m; j++)
      sum += x[i][j];
    for (int j = 0; j < m; j++)
      y[i][j] = x[i][j] * sum;
  }
}
