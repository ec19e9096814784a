// sqrt is exact by IEEE 754, so it needs no library; a division is rounded to nearest. Two of them have one test for unusual operands, behind which they are the
// instructions themselves; a single one is always the instruction. Nothing is flushed to zero.
//
// RUN: %clang -O0 -Xclang -disable-O0-optnone -fno-math-errno -emit-llvm -S %s -o - \
// RUN:   | %opt -passes='print<pollyrs-ptx>' -disable-output 2>&1 | FileCheck %s

float sqrtf(float);

// CHECK-LABEL: .entry single_K0(
// CHECK-NOT: approx
// CHECK: sqrt.rn.f32
// CHECK-NOT: approx
// CHECK: ret;
void single(long n, float a[n][4]) {
  for (long i = 0; i < n; i++)
    a[i][0] = sqrtf(a[i][0]);
}

// CHECK-LABEL: .entry roots_K0(
// CHECK: rsqrt.approx.ftz.f32
// CHECK: rcp.approx.ftz.f32
// CHECK: setp.gt.u32
// CHECK-DAG: sqrt.rn.f32
// CHECK-DAG: div.rn.f32
void roots(long n, float a[n][4]) {
  for (long i = 0; i < n; i++)
    a[i][0] = sqrtf(a[i][0]) / (a[i][0] + 1.5f);
}
