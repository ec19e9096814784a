// LoopExits: a break.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float *A) {
  for (int i = 0; i < n; i++) {
    if (A[i] > 3)
      break;
    A[i] = 1;
  }
}

// CHECK: rejected LoopExits at {{.*}}loop-exits.c:{{[0-9]+}}: the loop can be left at more than one place: where it ends depends on A ({{.*}})
