// With -ffast-math a quotient by a root is a product with the reciprocal root. Where the operand is at least 1, the instruction is used that takes subnormal numbers for zero, which
// needs no scaling; where nothing is known of it, the one that does not. Without the flags both are exact: by instructions, and for usual operands by
// steps with their remainder.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -ffast-math -emit-llvm -S %s -o - \
// RUN:   | %opt -passes='print<pollyrs-ptx>' -disable-output 2>&1 | FileCheck --implicit-check-not=sqrt.approx.f32 --implicit-check-not=div %s
// RUN: %clang -O1 -Xclang -disable-llvm-passes -fno-math-errno -emit-llvm -S %s -o - \
// RUN:   | %opt -passes='print<pollyrs-ptx>' -disable-output 2>&1 | FileCheck --check-prefix=EXACT %s
float sqrtf(float);

// CHECK: .entry normal_K0
// CHECK: rsqrt.approx.ftz.f32
// EXACT: .entry normal_K0
// EXACT: sqrt.rn.f32
// EXACT: div.rn.f32
void normal(long n, float a[n], float b[n][4]) {
  for (long i = 0; i < n; i++)
    a[i] = 0.1f / sqrtf(1.0f + b[i][0] * b[i][0]);
}

// CHECK: .entry any_K0
// CHECK: rsqrt.approx.f32
// EXACT: .entry any_K0
void any(long n, float a[n], float b[n][4]) {
  for (long i = 0; i < n; i++)
    a[i] = 0.1f / sqrtf(b[i][0]);
}
