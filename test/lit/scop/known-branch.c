// What a branch before the region guarantees needs no assumption.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(unsigned n, float *A) {
  if (n < 1000 && n > 4)
    for (unsigned i = 0; i < n; i++)
      for (unsigned j = 0; j < n; j++)
        A[i * n + j] = 1;
}

// CHECK: scop f at {{.*}}known-branch.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: context [n] -> {  : -2147483648 <= n <= 2147483647 }
// CHECK-NEXT: assume no wrap: [n] -> {  : n >= -2147483643 } (-5+n does not overflow)
// CHECK-NEXT: array float A[*]{{\[\[}}n] -> { [(n)] }] (memory)
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n] -> { S0[i0, i1] : 5 <= n <= 999 and 0 <= i0 < n and 0 <= i1 < n }
// CHECK-NEXT: must-write [n] -> { S0[i0, i1] -> A[i0, i1] }
