// A linear subscript of type size_t: the bound must not be negative as a signed number.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

#include <stddef.h>
void f(size_t n, float *A, float *B) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      B[i * n + j] = 2 * A[j * n + i];
}

// CHECK: scop f at {{.*}}linear-size-t.c:{{[0-9]+}}
// CHECK-NEXT: param n i64
// CHECK-NEXT: context [n] -> {  : -70368744177664 <= n <= 70368744177664 }
// CHECK-NEXT: assume not negative: [n] -> {  : n >= 0 } (-1+n is not negative)
// CHECK-NEXT: array float A[*]{{\[\[}}n] -> { [(n)] }] (memory)
// CHECK-NEXT: array float B[*]{{\[\[}}n] -> { [(n)] }] (memory)
// CHECK-NEXT: check disjoint A B
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n] -> { S0[i0, i1] : 0 <= i0 < n and 0 <= i1 < n }
// CHECK-NEXT: read [n] -> { S0[i0, i1] -> A[i1, i0] }
// CHECK-NEXT: must-write [n] -> { S0[i0, i1] -> B[i0, i1] }
