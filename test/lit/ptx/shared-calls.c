// Two statements that call a function with the same arguments share the call, and what is computed of its result: the function, once it is inlined, has branches, behind which nothing would be shared.
//
// REQUIRES: libdevice
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: env PATH=%tools %opt -passes='print<pollyrs-ptx;only-function=weights>' -disable-output %t.ll 2>&1 | FileCheck %s
float powf(float, float);

// CHECK: .entry weights_K0
// CHECK-COUNT-1: rcp.rn.f32
// CHECK-NOT: rcp.rn.f32
// CHECK: div.rn.f32
void weights(int n, int m, const float *restrict x, const float *restrict y, const float *restrict value, const float *restrict power, float *restrict out) {
  for (int i = 0; i < n; i++) {
    float sum = 0, weighted = 0;
    for (int j = 0; j < m; j++) {
      float weight = 1 / powf(x[i] - y[j], power[i]);
      sum += weight;
      weighted += value[j] * weight;
    }
    out[i] = weighted / sum;
  }
}
