// Which updates may be regrouped: integers always, floating-point sums with a flag, and a maximum that is written so that it passes over NaNs
// in its order, but not one that would take them.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-scop>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop integers
// CHECK:       reduction of {{.*}} in any order
int integers(int n, int *a) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}

// CHECK-LABEL: scop strict
// CHECK-NOT:   reduction
double strict(int n, double *a) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}

// CHECK-LABEL: scop regrouped
// CHECK:       reduction of {{.*}} in any order
double regrouped(int n, double *a) {
#pragma clang fp reassociate(on)
  double s = 0;
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}

// CHECK-LABEL: scop passes_over
// CHECK:       reduction of {{.*}} in order
double passes_over(int n, double *a) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s = a[i] > s ? a[i] : s;
  return s;
}

// No absolute value and no square is -0.0, so that equal values are the same ones.
// CHECK-LABEL: scop of_absolute_values
// CHECK:       reduction of {{.*}} in any order
double of_absolute_values(int n, double *a) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s = __builtin_fabs(a[i]) > s ? __builtin_fabs(a[i]) : s;
  return s;
}

// CHECK-LABEL: scop of_squares
// CHECK:       reduction of {{.*}} in any order
double of_squares(int n, double *a) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s = a[i] * a[i] >= s ? a[i] * a[i] : s;
  return s;
}

// A NaN would be taken, and then anything for it.
// CHECK-LABEL: scop takes
// CHECK:       reduction of {{.*}} in order, of numbers
double takes(int n, double *a) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s = s > a[i] ? s : a[i];
  return s;
}

// CHECK-LABEL: scop takes_absolute_values
// CHECK:       reduction of {{.*}} in any order, of numbers
double takes_absolute_values(int n, double *a) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s = !(__builtin_fabs(a[i]) <= s) ? __builtin_fabs(a[i]) : s;
  return s;
}

// Neither is larger in any case.
// CHECK-LABEL: scop last_unequal
// CHECK-NOT:   reduction
double last_unequal(int n, double *a) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s = s != a[i] ? a[i] : s;
  return s;
}

// The value is computed from the cell.
// CHECK-LABEL: scop twice
// CHECK-NOT:   reduction
int twice(int n, int *a) {
  int s = 1;
  for (int i = 0; i < n; i++)
    s = s * 3 + a[i];
  return s;
}
