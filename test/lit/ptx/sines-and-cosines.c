// The sine and the cosine of one angle are computed together, by one reduction of the angle. Those of different angles are not.
//
// REQUIRES: libdevice
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: env PATH=%tools %opt -passes='print<pollyrs-ptx;only-function=rotate>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: env PATH=%tools %opt -passes='print<pollyrs-ptx;only-function=apart>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=TWO
float sinf(float);
float cosf(float);

// The loop for large angles reads the digits of 2 / pi.
// ONE: .entry rotate_K0
// ONE-COUNT-1: mov.b64 {{.*}}__cudart_i2opi_f
// ONE-NOT: __cudart_i2opi_f
void rotate(int n, const float *restrict angle, float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) {
    x[i] = 2 * cosf(angle[i]);
    y[i] = 3 * sinf(angle[i]) - cosf(angle[i]);
  }
}

// TWO: .entry apart_K0
// TWO-COUNT-2: mov.b64 {{.*}}__cudart_i2opi_f
void apart(int n, const float *restrict angle, float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) {
    x[i] = cosf(angle[i]);
    y[i] = sinf(2 * angle[i]);
  }
}
