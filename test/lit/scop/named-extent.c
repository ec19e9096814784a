// A size that is a maximum which the iterations do not decide: a parameter of its own, bounded by both operands.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void f(long n, long m, double *A) {
  long s = n > 0 ? n : 0;
  for (long i = 0; i < m; i++)
    for (long j = 0; j < m; j++)
      A[i * s + j] = 1;
}

// CHECK: param max_0__n i64
// CHECK: assume delinearization: [m, max_0__n] -> {  : m <= 0 or max_0__n >= m }
// CHECK: array double A[*]{{.*}}(max_0__n)
// CHECK: must-write [m, max_0__n] -> { S0[i0, i1] -> A[i0, i1] }
