// Reductions along rows and what uses their results: a block has a few rows in shared memory and runs the loops as steps, where a row has 128 to 1024
// elements and there are 128 rows at least. Without room for rows, or with results of other rows, the loops are launches.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;only-function=softmax>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-mapping;only-function=softmax;nest=never>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: %opt -passes='print<pollyrs-mapping;ignore-function=softmax>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=LAUNCHES
#include <math.h>

// CHECK:      { K0[] : argument_0 >= 128 and 128 <= argument_1 <= 1024 }
// CHECK:      kernel K0[]
// CHECK:      block _t0 size 8
// CHECK-NEXT: block _t1 size 32
// CHECK:      S4[i0, i1] -> [5]
// CHECK:      S5[i0, i1] -> [6]
// CHECK:      S6[i0, i1] -> [7]
// A maximum may be regrouped: a part for each thread, with neighbours in different banks. Sums of floats stay in order.
// CHECK:      S7[o0, p, t] -> [1] {{.*}} 0 <= t <= 32
// CHECK:      S9[o0, p] -> [2]
// CHECK:      window _in0 array 0 size [8, 1025]
// CHECK:      window _in1 array 1 size [8, 1025]
// Exponentials, of which quotients take the place, stay in shared memory.
// CHECK:      passing {{.*}} S4[i0, i1] -> _enter[]
// CHECK:      _in0[
// What nobody reads before it is written is not copied.
// CHECK-NOT:  _in1[
// CHECK:      kernel K1[]
// CHECK-NOT:  window

// NEVER:      kernel K0[]
// NEVER-NOT:  window
void softmax(int n, int m, float (*restrict x)[m], float (*restrict y)[m]) {
  for (int i = 0; i < n; i++) {
    float most = x[i][0], sum = 0;
    for (int j = 1; j < m; j++)
      most = x[i][j] > most ? x[i][j] : most;
    for (int j = 0; j < m; j++) {
      y[i][j] = expf(x[i][j] - most);
      sum += y[i][j];
    }
    for (int j = 0; j < m; j++)
      y[i][j] /= sum;
  }
}

// LAUNCHES:     kernel K0[]
// LAUNCHES-NOT: window
void chained(int n, int m, float (*restrict x)[m], float *restrict s) {
  for (int i = 1; i < n; i++) {
    float sum = s[i - 1];
    for (int j = 0; j < m; j++)
      sum += x[i][j];
    s[i] = sum;
    for (int j = 0; j < m; j++)
      x[i][j] /= sum;
  }
}

void columns(int n, int m, double (*restrict x)[m]) {
  for (int j = 0; j < m; j++) {
    double sum = 1;
    for (int i = 0; i < n; i++)
      sum += x[i][j];
    for (int i = 0; i < n; i++)
      x[i][j] /= sum;
  }
}

void long_rows(int n, double (*restrict x)[4096]) {
  for (int i = 0; i < n; i++) {
    double sum = 1;
    for (int j = 0; j < 4096; j++)
      sum += x[i][j];
    for (int j = 0; j < 4096; j++)
      x[i][j] /= sum;
  }
}
