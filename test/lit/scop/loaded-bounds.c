// Inner loops between bounds that are loaded: the bounds are inspected, and what the loop reads lies between the least and the largest. Where nothing says that the
// end is not before the beginning, the number of iterations is not known.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop rows at
// CHECK: inspect ptr_min to ptr_max: [{{.*}}] -> { ptr[i0] : n > 0 and 0 <= i0 <= n }
// CHECK: inspect col_min to col_max: [{{.*}}] -> { col[i0] : n > 0 and ptr_min <= i0 < ptr_max }
// CHECK: subregion of {{[0-9]+}} blocks and 1 loops
// CHECK: may-read [{{.*}}] -> { S0[i0] -> val[o0] : 0 <= i0 < n and ptr_min <= o0 < ptr_max }
// CHECK: may-read [{{.*}}] -> { S0[i0] -> x[o0] : ptr_max > ptr_min and 0 <= i0 < n and col_min <= o0 <= col_max }
void rows(int n, const int *restrict ptr, const int *restrict col, const double *restrict val, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = ptr[i]; k < ptr[i + 1]; k++)
      s += val[k] * x[col[k]];
    y[i] = s;
  }
}

// CHECK-LABEL: scop lengths at
// CHECK: inspect len_min to len_max: [{{.*}}] -> { len[i0] : 0 <= i0 < n }
// CHECK: may-read [{{.*}}] -> { S0[i0] -> val[i0, o1] : {{.*}}o1 < len_max }
void lengths(int n, int m, const long *restrict len, const double *restrict val, double *restrict y) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (long k = 0; k < len[i]; k++)
      s += val[i * (long)m + k];
    y[i] = s;
  }
}

// CHECK-NOT: scop until.{{[^ ]*}} at {{.*}}: 2 loops
// CHECK-NOT: inspect
void until(int n, const int *restrict first, const int *restrict last, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    int k = first[i];
    do
      s += x[k];
    while (++k != last[i]);
    y[i] = s;
  }
}
