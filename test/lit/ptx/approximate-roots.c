// With -ffast-math a quotient by a root is a product with the reciprocal root, and one by a number times its root with the third power of that. Where the operand is at least 1, the
// instruction is used that takes subnormal numbers for zero, which needs no scaling; where nothing is known of it, the one that does not. So are roots and
// reciprocals by themselves. Without the flags all are exact: by instructions, and for usual operands by steps with their remainder.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -ffast-math -emit-llvm -S %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx>' -disable-output %t.ll 2>&1 | FileCheck --implicit-check-not=sqrt.approx.f32 %s
// RUN: %clang -O1 -Xclang -disable-llvm-passes -fno-math-errno -emit-llvm -S %s -o - \
// RUN:   | %opt -passes='print<pollyrs-ptx>' -disable-output 2>&1 | FileCheck --check-prefix=EXACT %s
float sqrtf(float);
float expf(float);

// CHECK: .entry normal_K0
// CHECK-NOT: div
// CHECK: rsqrt.approx.ftz.f32
// CHECK-NOT: div
// EXACT: .entry normal_K0
// EXACT: sqrt.rn.f32
// EXACT: div.rn.f32
void normal(long n, float a[n], float b[n][4]) {
  for (long i = 0; i < n; i++)
    a[i] = 0.1f / sqrtf(1.0f + b[i][0] * b[i][0]);
}

// CHECK: .entry any_K0
// CHECK-NOT: div
// CHECK: rsqrt.approx.f32
// CHECK-NOT: div
// EXACT: .entry any_K0
void any(long n, float a[n], float b[n][4]) {
  for (long i = 0; i < n; i++)
    a[i] = 0.1f / sqrtf(b[i][0]);
}

// CHECK: .entry cube_K0
// CHECK-NOT: {{rcp|div|ex2}}
// CHECK: rsqrt.approx.ftz.f32
// CHECK-NOT: {{sqrt|rcp|div}}
// EXACT: .entry cube_K0
// EXACT: sqrt.rn.f32
// EXACT: div.rn.f32
void cube(long n, float a[n], float b[n][4]) {
  for (long i = 0; i < n; i++) {
    float d = b[i][0] * b[i][0] + b[i][1] * b[i][1] + 0.01f;
    a[i] = b[i][2] / (d * sqrtf(d));
  }
}

// The root of one number and another number: a quotient.
// CHECK: .entry others_K0
// CHECK-NOT: rsqrt
// CHECK: sqrt.approx.ftz.f32
// CHECK-NOT: rsqrt
// CHECK: ret;
void others(long n, float a[n], float b[n][4]) {
  for (long i = 0; i < n; i++) {
    float d = b[i][0] * b[i][0] + 0.01f;
    a[i] = b[i][2] / (b[i][3] * sqrtf(d));
  }
}

// CHECK: .entry root_K0
// CHECK: {{[^r]}}sqrt.approx.ftz.f32
// EXACT: .entry root_K0
// EXACT: sqrt.rn.f32
void root(long n, float a[n], float b[n][4]) {
  for (long i = 0; i < n; i++)
    a[i] = sqrtf(1.0f + b[i][0] * b[i][0]);
}

// What is added to an exponential is no subnormal number either; of a difference nothing is known.
// CHECK: .entry sigmoid_K0
// CHECK-NOT: div.approx
// CHECK: rcp.approx.ftz.f32
// CHECK-NOT: div.approx
// CHECK: .entry difference_K0
// CHECK-NOT: rcp
// CHECK: div.approx.f32
// EXACT: .entry sigmoid_K0
// EXACT: .entry difference_K0
void sigmoid(long n, float a[n], float b[n][4]) {
  for (long i = 0; i < n; i++)
    a[i] = b[i][1] / (1.0f + expf(-b[i][0]));
}

void difference(long n, float a[n], float b[n][4]) {
  for (long i = 0; i < n; i++)
    a[i] = b[i][1] / (1.0f - b[i][0]);
}
