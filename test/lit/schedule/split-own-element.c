// For a fixed k the row and the column k are written and read by all others: the statement is split around them, and every part is
// parallel.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-schedule>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:         band
// CHECK-NEXT:    sequential {{.*}}[i0, i1, i2] -> [i0]
// CHECK-NEXT:    sequence
// CHECK-COUNT-9: mark kernel
// CHECK-NOT:     mark
void paths(int n, int P[n][n]) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        P[i][j] = P[i][j] < P[i][k] + P[k][j] ? P[i][j] : P[i][k] + P[k][j];
}
