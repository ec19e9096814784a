// A bound n * m is a parameter of its own.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, int m, float *A) {
  for (int i = 0; i < n * m; i++)
    A[i] = 1;
}

// CHECK: scop f at {{.*}}product-bound.c:{{[0-9]+}}
// CHECK-NEXT: param n_m i32
// CHECK-NEXT: context [n_m] -> {  : -2147483648 <= n_m <= 2147483647 }
// CHECK-NEXT: array float A[*] (memory)
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n_m] -> { S0[i0] : 0 <= i0 < n_m }
// CHECK-NEXT: must-write [n_m] -> { S0[i0] -> A[i0] }
