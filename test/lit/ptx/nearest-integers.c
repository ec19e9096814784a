// Rounding to an integer is rounding and a conversion: half away from zero by a few instructions, to even by one.
//
// RUN: %clang -O0 -Xclang -disable-O0-optnone -fno-math-errno -emit-llvm -S %s -o - \
// RUN:   | %opt -passes='print<pollyrs-ptx>' -disable-output 2>&1 | FileCheck --implicit-check-not=.extern %s

// CHECK-DAG: cvt.rni.f64.f64
// CHECK-DAG: cvt.rzi.f32.f32
// CHECK-DAG: cvt.rzi.s64.f64
// CHECK-DAG: cvt.rzi.s64.f32
long lrint(double), lroundf(float);

void nearest(long n, const double *restrict x, const float *restrict y, long *restrict a, int *restrict b) {
  for (long i = 0; i < n; i++) {
    a[i] = lrint(x[i]);
    b[i] = lroundf(y[i]);
  }
}
