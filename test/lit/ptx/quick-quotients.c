// Where a thread computes several points of a fused step, their exact divisions and roots are the instructions for usual operands, with one
// test behind them, of all steps of an iteration; the exact operations are what it leads to, and all there is at borders. Quotients by roots take their
// reciprocals from the roots, of floats one unit up; roots of doubles must not be all ones below. What may be approximate is left to the back end. Quotients by constants take two
// operations without a reciprocal, and only tiny numerators are unusual.
//
// RUN: %clang -O0 -Xclang -disable-O0-optnone -ffp-contract=off -fno-math-errno -emit-llvm -S %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;only-function=roots>' -disable-output %t.ll 2>&1 | FileCheck %s --implicit-check-not=rcp.approx
// RUN: %opt -passes='print<pollyrs-ptx;only-function=roots;fuse-steps=2;stencil-shape=1x128x1x1x1>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: %opt -passes='print<pollyrs-ptx;only-function=quick>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=FAST --implicit-check-not=rcp.approx
// RUN: %opt -passes='print<pollyrs-ptx;only-function=wide>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: %opt -passes='print<pollyrs-ptx;only-function=wide_roots>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=ONES
// RUN: %opt -passes='print<pollyrs-ptx;only-function=constant>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=CONSTANT --implicit-check-not=rcp.approx
// RUN: %opt -passes='print<pollyrs-ptx;only-function=wide_constant>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=WIDECONST --implicit-check-not=rcp.approx
// RUN: %opt -passes='print<pollyrs-ptx;only-function=normalised>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=ROWS

float sqrtf(float);

// CHECK: .entry roots_F
// CHECK: rsqrt.approx.ftz.f32 [[NEAR:%[a-z0-9]+]], [[X:%[a-z0-9]+]];
// CHECK: add.s32 {{%[a-z0-9]+}}, [[NEAR]], 1;
// CHECK: fma.rn.f32
// CHECK-DAG: setp.{{.*}}{{2013265920|2013265921}};
// CHECK-DAG: setp.{{.*}}{{1006632960|1006632961}};
// CHECK-DAG: sqrt.rn.f32
// CHECK-DAG: div.rn.f32
// STEPS: .entry roots_F2
// STEPS: rsqrt.approx
// STEPS-NOT: {{1006632960|1006632961}}
// STEPS: rsqrt.approx
// STEPS: setp.{{.*}}{{1006632960|1006632961}};
void roots(int steps, int n, float a[2][n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[(t + 1) % 2][i][j] = a[t % 2][i][j - 1] / sqrtf(a[t % 2][i + 1][j]);
}

// FAST: .entry quick_F
// FAST: {{(rcp|div)}}.rn.f32
void quick(int steps, int n, float a[2][n][n]) {
#pragma clang fp reciprocal(on) reassociate(on)
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[(t + 1) % 2][i][j] = a[t % 2][i][j - 1] / a[t % 2][i + 1][j];
}

// WIDE: .entry wide_F
// WIDE: rcp.approx.ftz.f64
// WIDE: fma.rn.f64
// WIDE: setp.{{.*}}{{2013265920|2013265921}};
// WIDE: div.rn.f64
void wide(int steps, int n, double a[2][n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[(t + 1) % 2][i][j] = a[t % 2][i][j - 1] / a[t % 2][i + 1][j];
}

// ONES: .entry wide_roots_F
// ONES: rsqrt.approx.ftz.f64
// ONES-NOT: rcp.approx
// ONES: setp.{{eq|ne}}.b32 {{.*}}, -1;
// ONES: sqrt.rn.f64
double sqrt(double);
void wide_roots(int steps, int n, double a[2][n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[(t + 1) % 2][i][j] = a[t % 2][i][j - 1] / sqrt(a[t % 2][i + 1][j]);
}

// 1/118 cut to 24 bits and the rest; 2^32 less twice the bits of 2^-60.
// CONSTANT: .entry constant_F
// CONSTANT: mul.rn.f32 [[LOW:%[a-z0-9]+]], [[X:%[a-z0-9]+]], 0f{{[0-9A-F]+}};
// CONSTANT: fma.rn.f32 {{%[a-z0-9]+}}, [[X]], 0f3C0AD8F{{2|3}}, [[LOW]];
// CONSTANT: setp.{{.*}}{{-1124073472|3170893824|-1124073471|3170893825}};
// CONSTANT: div.rn.f32
void constant(int steps, int n, float a[2][n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[(t + 1) % 2][i][j] = (a[t % 2][i][j - 1] + a[t % 2][i + 1][j]) / 118;
}

// WIDECONST: .entry wide_constant_F
// WIDECONST: mul.rn.f64 [[LOW:%[a-z0-9]+]], [[X:%[a-z0-9]+]], 0d{{[0-9A-F]+}};
// WIDECONST: fma.rn.f64 {{%[a-z0-9]+}}, [[X]], 0d3F81{{[0-9A-F]+}}, [[LOW]];
// WIDECONST: div.rn.f64
void wide_constant(int steps, int n, double a[2][n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[(t + 1) % 2][i][j] = (a[t % 2][i][j - 1] + a[t % 2][i + 1][j]) / 118;
}

// Quotients of a row in shared memory, which are stored there and in memory: those of an unrolled loop come
// first, then their stores.
// ROWS:         .entry normalised_K0
// ROWS-COUNT-8: rcp.approx.ftz.f32
// ROWS:         setp.{{.*}}{{2013265920|2013265921}};
// ROWS:         div.rn.f32
// ROWS:         st.global
void normalised(int n, int m, float x[n][m]) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int j = 0; j < m; j++)
      sum += x[i][j];
    for (int j = 0; j < m; j++)
      x[i][j] /= x[i][j] * sum + 1;
  }
}
