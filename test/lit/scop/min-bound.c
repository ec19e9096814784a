// A bound that is a minimum.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, int m, float *A) {
  for (int i = 0; i < (n < m ? n : m); i++)
    A[i] = 1;
}

// CHECK: scop f at {{.*}}min-bound.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: param m i32
// CHECK-NEXT: context [n, m] -> {  : -2147483648 <= n <= 2147483647 and -2147483648 <= m <= 2147483647 }
// CHECK-NEXT: array float A[*] (memory)
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n, m] -> { S0[i0] : 0 <= i0 < m and i0 < n }
// CHECK-NEXT: must-write [n, m] -> { S0[i0] -> A[i0] }
