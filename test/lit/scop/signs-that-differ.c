// Fortran's modulo, `(i - 2) mod n` with the sign of `n`: the signs of dividend and divisor are compared by their exclusive or.
// Only the first iteration takes the last element.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void f(int n, const float *A, float *B) {
  for (int i = 1; i <= n; i++) {
    int rest = (i - 2) % n;
    B[i] = A[rest + ((((i - 2) ^ n) < 0) & (rest != 0) ? n : 0)];
  }
}

// CHECK: scop f at
// CHECK: domain [n] -> { {{S[0-9]}}[0] : n >= 2 }
// CHECK-NEXT: read [n] -> { {{S[0-9]}}[i0] -> A[-1 + n + i0] }
