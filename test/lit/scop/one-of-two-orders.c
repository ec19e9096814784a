// A nest that walks through an array in one of two orders, by a number known before it, is a nest for each; one that
// only leaves something out stays one.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void turn(const float *restrict x, float *restrict y, int n, int m, int forward) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (forward)
        y[j * n + i] = x[i * m + j];
      else
        y[i * m + j] = x[j * n + i];
}
// CHECK-LABEL: scop turn
// CHECK:      read {{.*}} -> x[i1, i0] }
// CHECK-NEXT: must-write {{.*}} -> y[i0, i1] }
// CHECK-LABEL: scop turn
// CHECK:      read {{.*}} -> x[i0, i1] }
// CHECK-NEXT: must-write {{.*}} -> y[i1, i0] }

void add(const float *restrict x, float *restrict y, int n, int m, int some) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (some)
        y[i * m + j] += x[i * m + j];
      else
        y[i * m + j] = x[i * m + j];
}
// CHECK-LABEL: scop add
// CHECK-NOT: scop add

void placed(const float *restrict x, float *restrict y, int n, int m, int flag) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[flag == 2 ? j * n + i : i * m + j] = x[i * m + j];
}
// CHECK-LABEL: scop placed
// CHECK:      must-write {{.*}} -> y[i1, i0] }
// CHECK-LABEL: scop placed
// CHECK:      must-write {{.*}} -> y[i0, i1] }
