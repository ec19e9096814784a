// Calls in loops are inlined before analysis if the callee is defined here and may be inlined. The originals stay.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-detect>,verify' -S %t.ll -o %t.2.ll 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAME < %t.2.ll

// SAME-NOT: .pollyrs(
// SAME: call double @helper(
// SAME: call double @never(

static double helper2(double x) { return x * x; }
static double helper(double x) { return helper2(x) + 1; }
__attribute__((noinline)) static double never(double x) { return x * x; }
static double again(double x) { return x < 1 ? x : again(x / 2); }

// CHECK: scop inlined at
void inlined(int n, double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++)
    a[i] = helper(b[i]);
}

// CHECK-NOT: scop not_inlined at
void not_inlined(int n, double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++)
    a[i] = never(b[i]);
}

// CHECK-NOT: scop recursive at
void recursive(int n, double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++)
    a[i] = again(b[i]);
}
