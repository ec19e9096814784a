// The element that a loop has chosen so far is kept beside its index: where the place is computed from the index, and where its absolute
// value is all that is wanted. Not where another element is compared with, or the loop writes it.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop column
// CHECK: reduction of {{.*}}, {{.*}} in order
int column(int n, int k, const double *a) {
  int p = k;
  for (int i = k + 1; i < n; i++)
    if (__builtin_fabs(a[i * n + k]) > __builtin_fabs(a[p * n + k]))
      p = i;
  return p;
}

// CHECK-LABEL: scop row
// CHECK: reduction of {{.*}}, {{.*}} in order
int row(int n, const double *a) {
  int p = 0;
  for (int i = 1; i < n; i++)
    if (__builtin_fabs(a[i]) > __builtin_fabs(a[p]))
      p = i;
  return p;
}

// CHECK-NOT: in order
int other(int n, int k, const double *a) {
  int p = k;
  for (int i = k + 1; i < n; i++)
    if (__builtin_fabs(a[i * n + k]) > __builtin_fabs(a[p * n]))
      p = i;
  return p;
}

int written(int n, int k, double *a) {
  int p = k;
  for (int i = k + 1; i < n; i++) {
    if (__builtin_fabs(a[i * n + k]) > __builtin_fabs(a[p * n + k]))
      p = i;
    a[p * n + k] = 0.5;
  }
  return p;
}
