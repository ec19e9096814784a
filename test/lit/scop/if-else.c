// The two sides of a condition have complementary domains.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float *A, float *B) {
  for (int i = 0; i < n; i++)
    if (i < 10)
      A[i] = 1;
    else
      B[i] = 2;
}

// CHECK: scop f at {{.*}}if-else.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: context [n] -> {  : -2147483648 <= n <= 2147483647 }
// CHECK-NEXT: array float B[*] (memory)
// CHECK-NEXT: array float A[*] (memory)
// CHECK-NEXT: check disjoint B A
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n] -> { S0[i0] : 10 <= i0 < n }
// CHECK-NEXT: must-write [n] -> { S0[i0] -> B[i0] }
// CHECK-NEXT: statement S1
// CHECK-NEXT: domain [n] -> { S1[i0] : 0 <= i0 <= 9 and i0 < n }
// CHECK-NEXT: must-write [n] -> { S1[i0] -> A[i0] }
