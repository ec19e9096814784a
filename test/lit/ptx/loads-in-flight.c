// Where blocks have few threads that run loops, nothing but loads of many iterations hides what a load takes: eight iterations where neighbours touch neighbouring
// elements and blocks have two warps, sixteen where they have one.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;register-tile=none>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: .entry filter_K0(
// CHECK: .reqntid 64
// CHECK-COUNT-16: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK: bra
void filter(long n, int k, const float *x, const float *w, float *y) {
  for (long i = 0; i < n - k; i++) {
    float s = 0;
    for (int j = 0; j < k; j++)
      s += x[i + j] * w[j];
    y[i] = s;
  }
}

// CHECK-LABEL: .entry rows_K0(
// CHECK: .reqntid 32
// CHECK-COUNT-32: ld.global.nc.b64
// CHECK-NOT: ld.global
// CHECK: bra
void rows(int n, double A[n][n], double *x, double *y) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < n; j++)
      s += A[i][j] * x[j];
    y[i] = s;
  }
}
