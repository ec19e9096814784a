// Two stores of one block are two statements; the load they share is in both.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float *A, float *B, float *C) {
  for (int i = 0; i < n; i++) {
    A[i] = C[i];
    B[i] = C[i] * 2;
  }
}

// CHECK: scop f at {{.*}}two-statements.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: context [n] -> {  : -2147483648 <= n <= 2147483647 }
// CHECK-NEXT: array float C[*] (memory)
// CHECK-NEXT: array float A[*] (memory)
// CHECK-NEXT: array float B[*] (memory)
// CHECK-NEXT: check disjoint C A
// CHECK-NEXT: check disjoint C B or one
// CHECK-NEXT: check disjoint A B
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n] -> { S0[i0] : 0 <= i0 < n }
// CHECK-NEXT: read [n] -> { S0[i0] -> C[i0] }
// CHECK-NEXT: must-write [n] -> { S0[i0] -> A[i0] }
// CHECK-NEXT: statement S1
// CHECK-NEXT: domain [n] -> { S1[i0] : 0 <= i0 < n }
// CHECK-NEXT: read [n] -> { S1[i0] -> C[i0] }
// CHECK-NEXT: must-write [n] -> { S1[i0] -> B[i0] }
