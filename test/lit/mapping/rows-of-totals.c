// Running totals of rows, in parts where that is permitted: nothing but the totals uses the rows, so that no block keeps them in shared memory.
//
// RUN: %clang -O1 -ffast-math -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:      kernel K0[]
// CHECK-NOT:  window
void totals(int n, int m, float (*restrict x)[m], float (*restrict y)[m]) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int j = 0; j < m; j++) {
      sum += x[i][j];
      y[i][j] = sum;
    }
  }
}
