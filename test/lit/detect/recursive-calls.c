// Call: a function that calls itself is named as such, whether it has effects or not.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

int fibonacci(int k) { return k < 2 ? k : fibonacci(k - 1) + fibonacci(k - 2); }

void fill(int n, int *A) {
  for (int i = 0; i < n; i++)
    A[i] = fibonacci(i % 20);
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of fibonacci, which calls itself (at {{.*}}calls.c:[[#@LINE-3]])
