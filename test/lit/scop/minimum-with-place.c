// A minimum and its places are one statement, whose cells are regrouped together; with a comparison that takes NaNs none of it is.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop strict at
// CHECK: read [n] -> { S[[N:[0-9]+]][i0] -> x[i0] }
// CHECK: must-write [n] -> { S[[N]][i0] -> m[] }
// CHECK: reduction of m, k in order{{$}}
long strict(int n, const float *x) {
  float m = 0;
  long k = -1;
  for (int i = 0; i < n; i++)
    if (x[i] < m) {
      m = x[i];
      k = i;
    }
  return k;
}

// CHECK-LABEL: scop or_equal at
// CHECK: reduction of m, k in order, of numbers
int or_equal(int n, const double *x) {
  double m = 0;
  int k = -1;
  for (int i = 0; i < n; i++)
    if (x[i] >= m) {
      m = x[i];
      k = i;
    }
  return k;
}

// CHECK-LABEL: scop integers at
// CHECK: reduction of m, k in order{{$}}
int integers(int n, const int *x) {
  int m = 0, k = -1;
  for (int i = 0; i < n; i++)
    if (m >= x[i]) {
      m = x[i];
      k = i;
    }
  return k;
}

// CHECK-LABEL: scop takes_nan at
// CHECK-NOT: reduction of
int takes_nan(int n, const double *x) {
  double m = 0;
  int k = -1;
  for (int i = 0; i < n; i++)
    if (!(x[i] >= m)) {
      m = x[i];
      k = i;
    }
  return k;
}

// CHECK-LABEL: scop signs at
// CHECK-NOT: reduction of {{.*}}, k
int signs(int n, const int *x) {
  int m = 0, k = -1;
  for (int i = 0; i < n; i++) {
    k = (unsigned)x[i] < (unsigned)m ? i : k;
    m = x[i] < m ? x[i] : m;
  }
  return m + k;
}
