// A value that two loops carry has one cell, also where the inner loop may run no iteration; not where something stores it in between.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-scop>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop sum
// CHECK: read {{.*}} S[[S:[0-9]+]][i0, i1] -> [[CELL:phi[a-z0-9_]+]][] }
// CHECK-NEXT: must-write {{.*}} S[[S]][i0, i1] -> [[CELL]][] }
// CHECK-NEXT: reduction of [[CELL]] in any order
long sum(int n, int m, const int *A) {
  long s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      s += A[i * m + j];
  return s;
}

// CHECK-LABEL: scop changed
// CHECK: must-write {{.*}} S{{[0-9]+}}[i0, i1] -> [[CELL:phi[a-z0-9_]+]][] }
// CHECK-NEXT: reduction
// CHECK: must-write {{.*}} S{{[0-9]+}}[i0] -> [[CELL]][] }
void changed(int n, const int A[n][8], long *before) {
  long s = 0;
  for (int i = 0; i < n; i++) {
    before[i] = s;
    for (int j = 0; j < 8; j++)
      s += A[i][j];
    if (i & 1)
      s ^= 5;
  }
}

// What stores the value need not wait for the outer loop.
// CHECK-LABEL: scop prefix
// CHECK: must-write {{.*}} S{{[0-9]+}}[i0, i1] -> [[CELL:phi[a-z0-9_]+]][i0] }
// CHECK-NEXT: reduction
// CHECK: read {{.*}} S{{[0-9]+}}[i0] -> [[CELL]][i0] }
void prefix(int n, const int A[n][8], long *sums) {
  long s = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 8; j++)
      s += A[i][j];
    sums[i] = s;
  }
}
