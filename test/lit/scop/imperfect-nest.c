// Statements at different depths.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, int m, float A[n][m], float *B) {
  for (int i = 0; i < n; i++) {
    B[i] = 0;
    for (int j = 0; j < m; j++)
      B[i] += A[i][j];
  }
}

// CHECK: scop f at {{.*}}imperfect-nest.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: param m i32
// CHECK-NEXT: context [n, m] -> {  : -2147483648 <= n <= 2147483647 and -2147483648 <= m <= 2147483647 }
// CHECK-NEXT: array float B[*] (memory)
// CHECK-NEXT: array float A[*]{{\[\[}}n, m] -> { [(m)] }] (memory)
// CHECK-NEXT: check disjoint B A
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n, m] -> { S0[i0] : 0 <= i0 < n }
// CHECK-NEXT: must-write [n, m] -> { S0[i0] -> B[i0] }
// CHECK-NEXT: statement S1
// CHECK-NEXT: domain [n, m] -> { S1[i0, i1] : 0 <= i0 < n and 0 <= i1 < m }
// CHECK-NEXT: read [n, m] -> { S1[i0, i1] -> A[i0, i1] }
// CHECK-NEXT: read [n, m] -> { S1[i0, i1] -> B[i0] }
// CHECK-NEXT: must-write [n, m] -> { S1[i0, i1] -> B[i0] }
// CHECK-NEXT: schedule { domain: "[n, m] -> { S0[i0] : 0 <= i0 < n; S1[i0, i1] : 0 <= i0 < n and 0 <= i1 < m }", child: { schedule: "[n, m] -> [{ S0[i0] -> [(i0)]; S1[i0, i1] -> [(i0)] }]", child: { sequence: [ { filter: "[n, m] -> { S0[i0] }" }, { filter: "[n, m] -> { S1[i0, i1] }", child: { schedule: "[n, m] -> [{ S1[i0, i1] -> [(i1)] }]" } } ] } } }
