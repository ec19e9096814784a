// A linear subscript of type unsigned may wrap at 2^32: that its largest value does not is assumed, once for two that are alike. Where
// bounds of the sizes prove it, nothing is.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(unsigned n, float *A, float *B) {
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j < n; j++)
      B[i * n + j] = 2 * A[j * n + i];
}

void small(unsigned n, float *A) {
  if (n <= 60000)
    for (unsigned i = 0; i < n; i++)
      for (unsigned j = 0; j < n; j++)
        A[i * n + j] = 2;
}

// CHECK: scop f at {{.*}}linear-unsigned.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: context [n] -> {  : -2147483648 <= n <= 2147483647 }
// CHECK-NEXT: assume not negative: [n] -> {  : n >= 0 } (-1+n is not negative)
// CHECK-NEXT: assume no wrap: 0 <= [1 * [n] -> { [(n)] }, times [n] -> { [(0)] } to [n] -> { [(-1 + n)] }; 1, times [n] -> { [(0)] } to [n] -> { [(-1 + n)] }{{\]}} + 0..0 <= 4294967295 (an index of 32 bits does not wrap: i + j*n)
// CHECK-NEXT: array float A[*]{{\[\[}}n] -> { [(n)] }] (memory)
// CHECK-NEXT: array float B[*]{{\[\[}}n] -> { [(n)] }] (memory)
// CHECK-NEXT: check disjoint A B
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n] -> { S0[i0, i1] : 0 <= i0 < n and 0 <= i1 < n }
// CHECK-NEXT: read [n] -> { S0[i0, i1] -> A[i1, i0] }
// CHECK-NEXT: must-write [n] -> { S0[i0, i1] -> B[i0, i1] }

// CHECK: scop small at {{.*}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: context {{.*}}
// CHECK-NEXT: array float A[*]{{\[\[}}n] -> { [(n)] }] (memory)
