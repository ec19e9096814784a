// Of two choices under one condition the second is not taken for the first and a constant, as straight-line strength reduction in LLVM's back end does with
// extended negations: of q[i] it made q[i - 2].
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: .entry upwind_K0
// CHECK: selp.b32 {{.*}}, -1, 0, [[C:%p[0-9]+]];
// CHECK: selp.b64 [[O:%rd[0-9]+]], 0, -8, [[C]];
// CHECK: add.s64 [[A:%rd[0-9]+]], {{.*}}, [[O]];
// CHECK-NEXT: ld.global.nc.b64 {{.*}}, [[[A]]+16];
void upwind(int n, int m, const double *restrict u, const double *restrict q, double *restrict f) {
  for (int j = 0; j < n; ++j)
    for (int i = 2; i < m - 2; ++i) {
      int up, donor, down;
      if (u[j * m + i] > 0) {
        up = i - 2;
        donor = i - 1;
        down = i;
      } else {
        up = i + 1;
        donor = i;
        down = i - 1;
      }
      double a = q[j * m + donor] - q[j * m + up], b = q[j * m + down] - q[j * m + donor];
      f[j * m + i] = u[j * m + i] * (q[j * m + donor] + (a * b > 0 ? 0.5 * a : b));
    }
}

// Nor is a narrow sum that may wrap taken for its first operand and a constant.
// CHECK: .entry wraps_K0
// CHECK: ld.global.nc.b32 {{.*}}, [[[B:%rd[0-9]+]]+512];
// CHECK-NOT: [[[B]]+516]
// CHECK: cvt.s64.s8
// CHECK: ld.global.nc.b32 {{.*}}, [{{%rd[0-9]+}}+512];
void wraps(int n, const signed char *restrict by, const int *restrict t, int *restrict out) {
  for (int i = 0; i < n; i++)
    out[i] = t[by[i] + 128] - t[(signed char)(by[i] + 1) + 128];
}
