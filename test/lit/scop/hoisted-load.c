// A scalar loaded in an outer loop from an array that is only read is loaded where it is used.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float A[n][n], float *restrict B) {
  for (int i = 0; i < n; i++) {
    float x = B[i];
    for (int j = 0; j < n; j++)
      A[i][j] = x;
  }
}

// CHECK: scop f at {{.*}}hoisted-load.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: context [n] -> {  : -2147483648 <= n <= 2147483647 }
// CHECK-NEXT: array float B[*] (memory)
// CHECK-NEXT: array float A[*]{{\[\[}}n] -> { [(n)] }] (memory)
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n] -> { S0[i0, i1] : 0 <= i0 < n and 0 <= i1 < n }
// CHECK-NEXT: read [n] -> { S0[i0, i1] -> B[i0] }
// CHECK-NEXT: must-write [n] -> { S0[i0, i1] -> A[i0, i1] }
