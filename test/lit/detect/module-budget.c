// Budget: once a module's operations are spent, the functions that are left stay as they are, with a remark.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="pollyrs<module-budget=1>" -pass-remarks-missed=pollyrs -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes="pollyrs<module-budget=8000>" -pass-remarks-missed=pollyrs -disable-output %t.ll 2>&1 | FileCheck --check-prefix=LATER %s

void f(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] = 1;
}

void g(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] = 2;
}

// The work on the copy of a function counts as well as isl's.
//
// CHECK: not offloaded: the operation budget of rewriting is spent
// CHECK: not offloaded: the operation budget of the module is spent
// LATER: not offloaded: the operation budget of {{detection|dependences|scheduling}} is spent
// LATER: not offloaded: the operation budget of {{the module|rewriting}} is spent
