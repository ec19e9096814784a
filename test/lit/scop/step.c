// A step of three: the last iteration is a rounded division.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float *A) {
  for (int i = 0; i < n; i += 3)
    A[i] = 1;
}

// CHECK: scop f at {{.*}}step.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: context [n] -> {  : -2147483648 <= n <= 2147483647 }
// CHECK-NEXT: array float A[*]{{\[\[}}n] -> { [(3)] }] (memory)
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n] -> { S0[i0] : i0 >= 0 and 3i0 < n }
// CHECK-NEXT: must-write [n] -> { S0[i0] -> A[i0, 0] }
