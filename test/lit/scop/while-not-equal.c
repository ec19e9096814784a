// A while loop with != ends only if the bound is reached.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float *A) {
  int i = 0;
  while (i != n) {
    A[i] = i;
    i++;
  }
}

// CHECK: scop f at {{.*}}while-not-equal.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: context [n] -> {  : -2147483648 <= n <= 2147483647 }
// CHECK-NEXT: assume not negative: [n] -> {  : n >= 0 } (n is not negative)
// CHECK-NEXT: array float A[*] (memory)
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n] -> { S0[i0] : 0 <= i0 < n }
// CHECK-NEXT: must-write [n] -> { S0[i0] -> A[i0] }
