// The distance of two pointers is one parameter, of which sizes are quotients: no address is one. What stands at the end of an array is at a place that is a
// distance away from its begin.
//
// RUN: %clangxx -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-scop>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop {{.*}}reversed
// CHECK-NEXT: param p1_argument_0_argument_1 i64
// CHECK-NEXT: context
// CHECK-NEXT: array double argument_0[*] (memory at {{.*}}[(p1_argument_0_argument_1)]
// CHECK: 8i0 <= -8 + p1_argument_0_argument_1
// CHECK-NEXT: read {{.*}}argument_0[-1 - i0]
void reversed(double *begin, double *end, double *__restrict out) {
  long n = end - begin;
  for (long i = 0; i < n; i++)
    out[i] = begin[end - begin - 1 - i];
}

// Both ends, and a half of the size, which rounds down.
// CHECK-LABEL: scop {{.*}}halves
// CHECK-NEXT: param p1_argument_0_argument_1 i64
// CHECK-NEXT: context
// CHECK: 16i0 <= -16 + p1_argument_0_argument_1
// CHECK-NEXT: read {{.*}}argument_0[o0] : floor((p1_argument_0_argument_1)/16) = -i0 + o0
// CHECK-NEXT: read {{.*}}argument_1[-1 - i0]
void halves(double *begin, double *end, double *__restrict out) {
  long n = (end - begin) / 2;
  for (long i = 0; i < n; i++)
    out[i] = begin[n + i] + end[-1 - i];
}

// Two arrays, and the distance of each.
// CHECK-LABEL: scop {{.*}}beside
// CHECK-NEXT: param p1_argument_2_argument_3 i64
// CHECK-NEXT: param p1_argument_0_argument_1 i64
// CHECK-NEXT: context
// CHECK-NEXT: array double argument_0[*] (memory at {{.*}}[(p1_argument_0_argument_1)]
// CHECK: read {{.*}}argument_0[-1 - i0]
// CHECK-NEXT: read {{.*}}argument_2[i0]
void beside(const double *b, const double *e, const double *c, const double *d, double *__restrict out) {
  for (long i = 0; i < d - c; i++)
    out[i] = b[e - b - 1 - i] * c[i];
}
