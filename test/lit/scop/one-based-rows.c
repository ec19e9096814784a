// Rows that begin at 1: what their pointers point to is in front of the first element, which is left out of the array, so that m elements fit into
// a row of m. Where the element 0 is read, too, nothing is left out.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: scop from_one.1 at
// CHECK: assume delinearization: [n, m, a] -> {  : m <= 0 or a >= m } (subscripts of a stay inside its dimensions)
// CHECK: array double a_2[*]{{\[\[}}n, m, a] -> { [(a)] }] (memory at [n, m, a] -> { [(8)] })
// CHECK: must-write [n, m, a] -> { S0[i0, i1] -> a_2[i0, i1] }
void from_one(int n, int m, double **a) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++)
      a[i][j] *= 2;
}

// CHECK: scop from_zero.1 at
// CHECK: assume delinearization: [n, m, a] -> {  : a > m or m <= 0 } (subscripts of a stay inside its dimensions)
// CHECK: array double a_2[*]{{\[\[}}n, m, a] -> { [(a)] }] (memory)
// CHECK: must-write [n, m, a] -> { S0[i0, i1] -> a_2[i0, 1 + i1] }
void from_zero(int n, int m, double **a) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++)
      a[i][j] *= a[i][0];
}
