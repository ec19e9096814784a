// A loop that counts down: the counter of the domain counts up from 0.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float *A) {
  for (int i = n - 1; i >= 0; i--)
    A[i] = A[i] + 1;
}

// CHECK: scop f at {{.*}}negative-stride.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: context [n] -> {  : -2147483648 <= n <= 2147483647 }
// CHECK-NEXT: array float A[*] (memory)
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n] -> { S0[i0] : 0 <= i0 < n }
// CHECK-NEXT: read [n] -> { S0[i0] -> A[-1 + n - i0] }
// CHECK-NEXT: must-write [n] -> { S0[i0] -> A[-1 + n - i0] }
