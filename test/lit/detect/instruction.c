// Instruction: an address becomes data.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float *A, long *P) {
  for (int i = 0; i < n; i++)
    P[i] = (long)(A + P[i]);
}

// CHECK: rejected Instruction at {{.*}}instruction.c:{{[0-9]+}}: the instruction ptrtoint cannot run on the device ({{.*}})
