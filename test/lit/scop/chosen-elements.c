// Elements that data chooses: all that a value may choose are taken for read. A narrow type, clamps and the sources of a choice bound a value; nothing
// bounds the last one.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void narrow(int n, const unsigned char *restrict in, const int *restrict table, int *restrict out) {
  for (int i = 0; i < n; i++)
    out[i] = table[in[i] - 'a'];
}

// CHECK-LABEL: scop narrow
// CHECK: may-read [n] -> { S0[i0] -> table[o0] : {{.*}}-97 <= o0 <= 158 }

void clamped(int n, int m, const double *restrict x, const double *restrict table, double *restrict y) {
  for (int i = 0; i < n; i++) {
    double p = x[i] * m;
    int k = (int)p;
    if (k < 0)
      k = 0;
    if (k > m - 2)
      k = m - 2;
    y[i] = table[k] + (p - k) * table[k + 1];
  }
}

// CHECK-LABEL: scop clamped
// CHECK: may-read [n, m] -> { S0[i0] -> table[o0] : {{.*}}0 <= o0 <= -2 + m
// CHECK: may-read [n, m] -> { S0[i0] -> table[o0] : {{.*}}0 < o0 < m

void upwind(int n, int m, const double *restrict u, const double *restrict q, double *restrict f) {
  for (int j = 1; j < n; j++)
    for (int i = 0; i < m; i++) {
      int from = u[j * m + i] > 0 ? j - 1 : j;
      f[j * m + i] = u[j * m + i] * q[from * m + i];
    }
}

// CHECK-LABEL: scop upwind
// CHECK: may-read [{{.*}}] -> { S0[i0, i1] -> q[o0, i1] : {{.*}}i0 <= o0 <= 1 + i0 }

void greatest(int n, int m, const float *restrict x, int *restrict at) {
  for (int i = 0; i < n; i++) {
    int best = 0;
    for (int j = 1; j < m; j++)
      if (x[i * m + j] > x[i * m + best])
        best = j;
    at[i] = best;
  }
}

// CHECK-LABEL: scop greatest
// CHECK: may-read [{{.*}}] -> { S{{[0-9]+}}[i0, i1] -> x[i0, o1] : {{.*}}0 <= o1 {{.*}}

void any(int n, const int *restrict at, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++)
    y[i] = x[at[i]];
}

// The values of `at` are inspected: their range is what a load may touch.
// CHECK-LABEL: scop any
// CHECK: param at_min i32
// CHECK: may-read [{{.*}}] -> { S0[i0] -> x[o0] : {{.*}}at_min <= o0 <= at_max{{.*}} }
