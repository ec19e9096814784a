// Both arms store the same element: it is surely written. Each reads what the other does not: these elements may be read.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void f(int n, const int *restrict x, const int *restrict y, int L[n][n]) {
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++)
      if (x[i] == y[j])
        L[i][j] = L[i - 1][j - 1] + 1;
      else
        L[i][j] = L[i - 1][j];
}

// CHECK: statement S0
// CHECK-NEXT: domain [n] -> { S0[i0, i1] : 0 <= i0 <= -2 + n and 0 <= i1 <= -2 + n }
// CHECK-NEXT: subregion of 2 blocks and 0 loops
// CHECK-DAG: {{ }}read [n] -> { S0[i0, i1] -> x[1 + i0] }
// CHECK-DAG: {{ }}read [n] -> { S0[i0, i1] -> y[1 + i1] }
// CHECK-DAG: may-read [n] -> { S0[i0, i1] -> L[i0, i1] : {{.*}} }
// CHECK-DAG: may-read [n] -> { S0[i0, i1] -> L[i0, 1 + i1] : {{.*}} }
// CHECK-DAG: must-write [n] -> { S0[i0, i1] -> L[1 + i0, 1 + i1] }
// CHECK: schedule
