// sqrt is exact by IEEE 754, so it needs no library; a division is rounded to nearest; nothing is flushed to zero.
//
// RUN: %clang -O0 -Xclang -disable-O0-optnone -fno-math-errno -emit-llvm -S %s -o - \
// RUN:   | %opt -passes='print<pollyrs-ptx>' -disable-output 2>&1 | FileCheck --implicit-check-not=.ftz --implicit-check-not=.approx %s

// CHECK-DAG: sqrt.rn.f32
// CHECK-DAG: div.rn.f32
float sqrtf(float);

void roots(long n, float a[n]) {
  for (long i = 0; i < n; i++)
    a[i] = sqrtf(a[i]) / (a[i] + 1.5f);
}
