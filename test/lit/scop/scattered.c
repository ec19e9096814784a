// Stores to elements that a list gives: the accesses of the array have places, the subscripts of the list's integers and those that do not depend on them, and the integers have to be
// all different. Elements of two lists, at two distances, or used otherwise, are refused.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=REFUSED

// CHECK-LABEL: scop rows
// CHECK: inspect list_min to list_max, all different: [{{.*}}] -> { list[i0] :
// CHECK: may-write [{{.*}}] -> { S0[i0, i1] -> y[o0, i1] :
// CHECK-NEXT: at [{{.*}}] -> { S0[i0, i1] -> y_place[i0, i1] }
void rows(int n, int m, const int *restrict list, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[list[i] * m + j] = x[i * m + j];
}

// (Of floating-point numbers, and of sums of products, there is a version by places, for one step.)
// CHECK-LABEL: scop steps
// CHECK: may-read [{{.*}}] -> { S0[i0, i1] -> y[o0] :
// CHECK-NEXT: at [{{.*}}] -> { S0[i0, i1] -> y_place[i1] }
// CHECK: may-write [{{.*}}] -> { S0[i0, i1] -> y[o0] :
// CHECK-NEXT: at [{{.*}}] -> { S0[i0, i1] -> y_place[i1] }
void steps(int n, int t, const int *restrict list, const long *restrict x, long *restrict y) {
  for (int k = 0; k < t; k++)
    for (int i = 0; i < n; i++)
      y[list[i]] = y[list[i]] < x[i] ? y[list[i]] + 3 : x[i];
}

// Iterations by place.
// CHECK: scop two
// CHECK: param pollyrs_groups
void two(int n, const int *restrict a, const int *restrict b, double *restrict y) {
  for (int i = 0; i < n; i++) {
    y[a[i]] = 1;
    y[b[i]] = 2;
  }
}

// CHECK-NOT: scop
// REFUSED: rejected Subscript at {{.*}}: a subscript of y is not affine
void apart(int n, const int *restrict a, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++)
    y[a[i]] = y[a[i] + 1] + x[i];
}

// REFUSED: rejected Subscript at {{.*}}: a subscript of y is not affine
void otherwise(int n, const int *restrict a, double *restrict y) {
  for (int i = 0; i < n; i++)
    y[a[i]] = y[i] + 1;
}

// REFUSED: rejected Subscript at {{.*}}: a subscript of y is not affine
void halves(int n, const int *restrict a, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++)
    y[a[i] / 2] = x[i];
}

// The list is written itself.
// REFUSED: rejected Subscript at {{.*}}: a subscript of an array is not affine: it depends on a, which the loop itself changes
void changed(int n, int *restrict a, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) {
    y[a[i]] = x[i];
    a[i] = i;
  }
}
