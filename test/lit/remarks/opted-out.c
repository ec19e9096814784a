// Functions that must not be touched are not: optnone, and everything at -O0; no remark but about that, no call of the run-time library.
//
// RUN: %clang -O3 -S -emit-llvm %s -o - -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s
// RUN: %clang -O3 -S -emit-llvm %s -o - -DNONE= -mllvm -pollyrs-disable -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s
// RUN: %clang -O3 -S -emit-llvm %s -o - -DNONE= -mllvm -pollyrs-only-function=other -Rpass=pollyrs 2>&1 | FileCheck %s --check-prefixes=CHECK,OTHER
// RUN: %clang -O0 -S -emit-llvm %s -o - -DNONE= -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s --check-prefix=UNOPTIMIZED
// RUN: %clang -O0 -S -emit-llvm %s -o - -DNONE= 2>&1 | FileCheck %s
//
// OTHER: warning: pollyrs: option 'only-function': no function of this file is named 'other'
// CHECK-NOT: remark:
// CHECK-NOT: pollyrs_rt
//
// UNOPTIMIZED-NOT: pollyrs_rt
// UNOPTIMIZED: opted-out.c:[[@LINE+7]]:{{.*}}remark: not offloaded: compiled at -O0, where pollyrs does nothing
// UNOPTIMIZED-NOT: remark:
// UNOPTIMIZED-NOT: pollyrs_rt
#ifndef NONE
#define NONE __attribute__((optnone, noinline))
#endif

NONE void f(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] *= 2;
}

void g(float *A) { A[0] *= 2; }
