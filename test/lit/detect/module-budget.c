// Budget: once a module's operations are spent, the functions that are left stay as they are, with a remark.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="pollyrs<module-budget=1>" -pass-remarks-missed=pollyrs -disable-output %t.ll 2>&1 | FileCheck %s

void f(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] = 1;
}

void g(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] = 2;
}

// CHECK: not offloaded: the operation budget of detection is spent
// CHECK: not offloaded: the operation budget of the module is spent
