// A thread loads all that it needs before it divides, and before it stores what is of other arrays: it waits for memory once. What may be what it has stored is loaded behind that.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -fno-math-errno -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;only-function=update>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=UPDATE
// RUN: %opt -passes='print<pollyrs-ptx;only-function=points>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=POINTS
// RUN: %opt -passes='print<pollyrs-ptx;only-function=halves>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=HALVES
float sqrtf(float);

// UPDATE: .entry update_K0
// UPDATE-COUNT-4: ld.global
// UPDATE-NOT: ld.global
// UPDATE-DAG: st.global
// UPDATE-DAG: sqrt
// UPDATE-NOT: ld.global
// UPDATE: ret;
void update(long n, const float *restrict g, float *restrict p, float *restrict m, float *restrict v) {
  for (long i = 0; i < n; i++) {
    m[i] = 0.9f * m[i] + 0.1f * g[i];
    v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
    p[i] -= m[i] / (sqrtf(v[i]) + 1e-8f);
  }
}

// Two points a thread.
// POINTS: .entry points_K0
// POINTS: ld.global.nc.b32 {{.*}}+1024]
// POINTS-NOT: rcp
// POINTS: ld.global.nc.b32 {{.*}}+1024]
// POINTS-NOT: ld.global
// POINTS: rcp.approx
void points(long n, const float *restrict a, const float *restrict b, float *restrict y) {
  for (long i = 0; i < n; i++)
    y[i] = a[i] / (1 + a[i] * a[i]) * b[i];
}

// HALVES: .entry halves_K0
// HALVES: st.global
// HALVES: ld.global
// HALVES: st.global
void halves(long n, double *restrict a, double *restrict b, double *restrict c) {
  for (long i = 0; i < n; i++) {
    a[i] = 1.5 * b[i] * c[i];
    b[n + i] = a[n + i] + 1;
  }
}
