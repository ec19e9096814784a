// A triangular domain; the stored value is synthesised from the counters.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, double A[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      A[i][j] = i + 2 * j;
}

// CHECK: scop f at {{.*}}triangular.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: context [n] -> {  : -2147483648 <= n <= 2147483647 }
// CHECK-NEXT: array double A[*]{{\[\[}}n] -> { [(n)] }] (memory)
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n] -> { S0[i0, i1] : i0 < n and 0 <= i1 <= i0 }
// CHECK-NEXT: must-write [n] -> { S0[i0, i1] -> A[i0, i1] }
