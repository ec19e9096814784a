// The last iteration that satisfies a condition is a maximum with what stands beside it; where the choice itself decides, nothing is.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop last_of at
// CHECK: array i64 last_2 (phi)
// CHECK: reduction of last_2, last in order
int last_of(const double *x, int n) {
  int last = -1;
  for (int i = 0; i < n; i++)
    if (x[i] < 0)
      last = i;
  return last;
}

// CHECK-LABEL: scop any_of at
// CHECK: array i8 any (phi)
// CHECK: reduction of any in any order
int any_of(const double *x, int n) {
  int any = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > 1)
      any = 3;
  return any;
}

// CHECK-LABEL: scop last_change at
// CHECK-NOT: reduction
int last_change(const int *x, int n) {
  int last = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > last)
      last = i;
  return last;
}
