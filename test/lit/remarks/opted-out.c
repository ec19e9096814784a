// Functions that must not be touched are not: optnone, and everything at -O0; no remark, no call of the run-time library.
//
// RUN: %clang -O3 -S -emit-llvm %s -o - -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s
// RUN: %clang -O0 -S -emit-llvm %s -o - -DNONE= -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s
// RUN: %clang -O3 -S -emit-llvm %s -o - -DNONE= -mllvm -pollyrs-disable -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s
// RUN: %clang -O3 -S -emit-llvm %s -o - -DNONE= -mllvm -pollyrs-only-function=other -Rpass=pollyrs 2>&1 | FileCheck %s

// CHECK-NOT: remark:
// CHECK-NOT: pollyrs_rt
#ifndef NONE
#define NONE __attribute__((optnone, noinline))
#endif

NONE void f(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] *= 2;
}
