// Stages of a window run in loops with the bounds of one polyhedron. Statements whose steps can't be compared (the last column of the first row
// with all columns of all rows) have none, and their values stay in global memory.
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -pollyrs-strategy=diamond -pollyrs-tile=2x64x1 -passes='print<pollyrs-mapping>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %clang -O2 -mllvm -pollyrs-targets=emulated -mllvm -pollyrs-strategy=diamond -mllvm -pollyrs-tile=2x64x1 -Rpass=pollyrs -c %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

void last_column(int steps, int n, double *A) {
  for (int t = 0; t < steps; t++) {
    A[n - 1] = A[n - 1] * 0.5;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        A[i * n + j] = 0.5;
  }
}

// CHECK: kernel K0[_h0]
// CHECK-NOT: {{^  window}}
// CHECK-NOT: _in0
// CHECK: array 0 global
// REMARK: offloaded last_column: 3 loops, 2 statements, 1 array, 2 kernels
