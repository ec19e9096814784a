// A function of the program that is named like one of the mathematical library is not that one.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

static __attribute__((noinline, const)) double erf(double x) { return x * x + 1; }

void f(int n, double *A) {
  for (int i = 0; i < n; i++)
    A[i] = erf(A[i]);
}

// CHECK: rejected Call at {{.*}}: the call of erf (marked not to be inlined) may have side effects ({{.*}})
