// Budget: a region that takes more isl operations than allowed is left alone.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect;budget=10>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] = 1;
}

// CHECK: rejected Budget at {{.*}}budget.c:{{[0-9]+}}: the operation budget of detection is spent (the option budget=N raises it)
