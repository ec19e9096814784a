// Rows of memory that is only read may reach into the next ones: that they do not is no condition. Of memory that is written it is.
//
// RUN: %clang -O1 -g -fno-strict-aliasing -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-scop>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop frames
// CHECK-NOT: subscripts of x
// CHECK: assume delinearization: {{.*}} : {{.*}}step > 0{{.*}} (rows of x have elements)
// CHECK-NOT: subscripts of x
// CHECK: array double x[*]
// CHECK-NEXT: rows overlap unless {{.*}}step >= size
// CHECK: read {{.*}} -> x[i0, i1]
void frames(int n, int step, int size, const double *restrict x, double *restrict y) {
  for (int f = 0; f < n; f++)
    for (int i = 0; i < size; i++)
      y[f] += x[f * step + i];
}

// CHECK-LABEL: scop written
// CHECK: assume delinearization: {{.*}} (subscripts of x stay inside its dimensions)
// CHECK-NOT: rows overlap
void written(int n, int step, int size, double *restrict x) {
  for (int f = 0; f < n; f++)
    for (int i = 0; i < size; i++)
      x[f * step + i] *= 2;
}

// Where what is written has the same rows, its condition keeps all rows apart, and both may be one array.
// CHECK-LABEL: scop same
// CHECK: subscripts of y stay inside its dimensions
// CHECK-NOT: rows overlap
// CHECK: check disjoint {{.*}} or one
void same(int n, int step, int size, const double *x, double *y) {
  for (int f = 0; f < n; f++)
    for (int i = 0; i < size; i++)
      y[f * step + i] = x[f * step + i] + 1;
}

// Otherwise that takes rows that do not overlap.
// CHECK-LABEL: scop pair
// CHECK: rows of x have elements
// CHECK: rows overlap unless {{.*}}step >= size
// CHECK: check disjoint {{.*}} or one
void pair(int n, int step, int to, int size, const double *x, double *y) {
  for (int f = 0; f < n; f++)
    for (int i = 0; i < size; i++)
      y[f * to + i] = x[f * step + i] + 1;
}
