// Inside a loop that cannot be modelled, its counter is a parameter.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

extern void g(void);
void f(int n, float A[n][n]) {
  for (int i = 0; i < n; i++) {
    g();
    for (int j = 0; j < n; j++)
      A[i][j] = 1;
  }
}

// CHECK: scop f at {{.*}}outer-counter.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: param i i64
// CHECK-NEXT: context [n, i] -> {  : 0 < n <= 2147483647 and 0 <= i <= 2147483646 }
// CHECK-NEXT: array float A[*]{{\[\[}}n, i] -> { [(n)] }] (memory)
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n, i] -> { S0[i0] : 0 <= i0 < n }
// CHECK-NEXT: must-write [n, i] -> { S0[i0] -> A[i, i0] }
