// Threads without a point of their own compute that of another one, and report what it does to errno. Where the kernel writes what it reads, all of them have read before any of them
// stores; elsewhere nobody waits.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;only-function=apart>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=APART --implicit-check-not=bar.sync
// RUN: %opt -passes='print<pollyrs-ptx;only-function=in_place>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=PLACE
float sqrtf(float);

// APART: .entry apart_K0
// APART: st.global.{{.*}}+1024]
void apart(long n, const float *restrict x, float *restrict y) {
  for (long i = 0; i < n; i++)
    y[i] = sqrtf(x[i]);
}

// PLACE: .entry in_place_K0
// PLACE: bar.sync
// PLACE: st.global.{{.*}}+1024]
void in_place(long n, float *x) {
  for (long i = 0; i < n; i++)
    x[i] = sqrtf(x[i]);
}
