// LLVM makes `i - (i != 0)` of `i == 0 ? i : i - 1`: a comparison is a number, also in the index of a row.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void f(int n, const float *A, float *B) {
  for (int i = 0; i < n; i++)
    B[i] = A[i - (i != 0)] + A[i + (i < n - 1)];
}

// CHECK: scop f at
// CHECK: read [n] -> { S0[i0] -> A[-1 + i0] : i0 > 0; S0[0] -> A[0] }
// CHECK: read [n] -> { S0[i0] -> A[1 + i0] : i0 <= -2 + n; S0[-1 + n] -> A[-1 + n] }
