// Sizes in globals are loaded before a loop and at the end of each iteration (rotation does that, and jump threading), so that a phi has what was loaded last. It is
// what the place holds: it becomes a load again, in headers and behind loops, where another loop has the same size. Not if something is stored in between.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm -fno-discard-value-names -ffp-contract=off %s -o %t.ll
// RUN: %opt -passes=pollyrs-canonicalise,verify -S %t.ll | FileCheck %s
#include <math.h>

int rows, columns;

// CHECK-LABEL: define {{.*}}@sizes(
// CHECK-NOT: phi i32 {{.*}}%{{[0-9]}}
// CHECK-NOT: lcssa{{.*}} = phi
// CHECK: call double @pow
// CHECK-NOT: phi i32 {{.*}}%{{[0-9]}}
// CHECK-NOT: lcssa{{.*}} = phi
// CHECK: ret void
void sizes(double *a, double *b) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j <= columns; j++)
      a[i * (columns + 1) + j] = pow(b[(i + rows) * columns + j], 1.4);
  for (int t = 0; t < 4; t++)
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < columns; j++)
        b[(t * rows + i) * columns + j] += a[i * (columns + 1) + j + 1] - a[i * (columns + 1) + j];
}

// What was loaded before the store to an array that may be the place stays what it was.
// CHECK-LABEL: define {{.*}}@earlier(
// CHECK: %before{{.*}} = phi i32
// CHECK: ret i32
int earlier(int *a, int n) {
  int sum = 0, before = rows;
  for (int i = 0; i < n; i++) {
    sum += before;
    before = rows;
    a[i] = sum;
  }
  return sum;
}
